import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { parseUrn } from "../../framework/urn";

const stateShape = z.looseObject({
  id: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
});

const stepShape = z.looseObject({
  op: z.string(),
  urn: z.string(),
  /** Reference to its provider. */
  provider: z.string().optional(),
  oldState: stateShape.nullish(),
  newState: stateShape.nullish(),
  /** Top-level properties that force the replacement. */
  replaceReasons: z.array(z.string()).nullish(),
  /** Changed paths; null for dynamic resources. */
  detailedDiff: z.record(z.string(), z.unknown()).nullish(),
});
/** One resource of a preview. */
export type Step = z.output<typeof stepShape>;

const diagnosticShape = z.looseObject({ urn: z.string().nullish(), message: z.string(), severity: z.string() });

const previewShape = z
  .looseObject({
    config: z.record(z.string(), z.string()).nullish(),
    steps: z.array(stepShape).nullish(),
    diagnostics: z.array(diagnosticShape).nullish(),
    changeSummary: z.looseObject({ same: z.number().optional() }).nullish(),
  })
  // The engine omits each empty part. Without any of them, the input is another document, such as an exported state.
  .refine(({ steps, diagnostics, changeSummary }) => steps ?? diagnostics ?? changeSummary);

/** The parts of a preview that the commands read. */
export interface Preview {
  /** Undefined for a preview without resources. */
  stack: string | undefined;
  /** The stack's config; secret values are masked. */
  config: Record<string, string>;
  steps: Step[];
  /** Number of unchanged resources; `steps` has few of them. */
  unchanged: number;
  warnings: Message[];
  errors: Message[];
}

/** A diagnostic. */
export interface Message {
  /** Undefined for one about the whole program. */
  urn: string | undefined;
  text: string;
}

/** Parses the output of a preview. Throws an Error with a message for users, which names `command`, if it is not one. */
export function parsePreview(text: string, command: string): Preview {
  const { config, steps, diagnostics, changeSummary } = parse(text, command);
  const messagesOf = (severity: string): Message[] =>
    (diagnostics ?? [])
      .filter((diagnostic) => diagnostic.severity === severity)
      .map(({ urn, message }) => ({ urn: urn || undefined, text: message.replace(/^(warning|error): /, "").trim() }));
  const errors = messagesOf("error");
  const [first] = steps ?? [];
  return {
    stack: first && parseUrn(first.urn).stack,
    config: config ?? {},
    steps: steps ?? [],
    unchanged: changeSummary?.same ?? 0,
    warnings: messagesOf("warning"),
    errors: errors.length > 0 ? errors : programErrors(messagesOf("info#err")),
  };
}

/** The error of a YAML program that does not match the schema: its host only writes it to stderr, over several messages. */
function programErrors(stderr: Message[]): Message[] {
  const text = stderr.map((diagnostic) => stripVTControlCharacters(diagnostic.text)).join("\n");
  return /^Error: /m.test(text) ? [{ urn: undefined, text }] : [];
}

function parse(text: string, command: string): z.output<typeof previewShape> {
  try {
    return previewShape.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`the input is not a preview; pass the output of \`${command}\``, { cause });
  }
}
