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
const configShape = z.record(z.string(), z.string());
const summaryShape = z.looseObject({ same: z.number().optional(), update: z.number().optional() });

const previewShape = z
  .looseObject({
    config: configShape.nullish(),
    steps: z.array(stepShape).nullish(),
    diagnostics: z.array(diagnosticShape).nullish(),
    changeSummary: summaryShape.nullish(),
  })
  // The engine omits each empty part. Without any of them, the input is another document, such as an exported state.
  .refine(({ steps, diagnostics, changeSummary }) => steps ?? diagnostics ?? changeSummary);

const resourceEventShape = z.looseObject({
  metadata: stepShape.extend({ old: stateShape.nullish(), new: stateShape.nullish() }),
});
/** An event of a streamed preview; other kinds of events have none of these parts. */
const eventShape = z.looseObject({
  preludeEvent: z.looseObject({ config: configShape.nullish() }).optional(),
  resourcePreEvent: resourceEventShape.optional(),
  resOutputsEvent: resourceEventShape.optional(),
  diagnosticEvent: diagnosticShape
    .extend({ prefix: z.string().optional(), ephemeral: z.boolean().optional() })
    .optional(),
  summaryEvent: z.looseObject({ resourceChanges: summaryShape.nullish() }).optional(),
});

/** The parts of a preview that the commands read. */
export interface Preview {
  /** Undefined for a preview without resources. */
  stack: string | undefined;
  /** The stack's config; secret values are masked. */
  config: Record<string, string>;
  steps: Step[];
  /** True if a refresh found changes that `steps` lacks: without streaming, the CLI omits those of dynamic resources. */
  lacksChanges: boolean;
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
    lacksChanges:
      (steps ?? []).some(({ op }) => op === "refresh") &&
      (changeSummary?.update ?? 0) > (steps ?? []).filter(({ op }) => op === "update").length,
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
    const lines = text.trim().split("\n");
    const isStream = lines.every((line) => line.startsWith('{"sequence":'));
    return previewShape.parse(isStream ? fromEvents(lines) : JSON.parse(text));
  } catch (cause) {
    throw new Error(`the input is not a preview; pass the output of \`${command}\``, { cause });
  }
}

/** The events of a streamed refresh in the form of a preview. The last event of a resource contains the result of its comparison. */
function fromEvents(lines: readonly string[]): z.input<typeof previewShape> {
  const steps = new Map<string, Step>();
  const diagnostics: z.input<typeof diagnosticShape>[] = [];
  let config: z.input<typeof configShape> | undefined;
  let changeSummary: z.input<typeof summaryShape> | undefined;
  for (const line of lines) {
    const event = eventShape.parse(JSON.parse(line));
    config ??= event.preludeEvent?.config ?? undefined;
    changeSummary ??= event.summaryEvent?.resourceChanges ?? undefined;
    const { metadata } = event.resOutputsEvent ?? event.resourcePreEvent ?? {};
    if (metadata) steps.set(metadata.urn, { ...metadata, oldState: metadata.old, newState: metadata.new });
    const { diagnosticEvent: diagnostic } = event;
    if (diagnostic && !diagnostic.ephemeral)
      diagnostics.push({ ...diagnostic, message: `${diagnostic.prefix ?? ""}${diagnostic.message}` });
  }
  return { config, steps: [...steps.values()], diagnostics, changeSummary };
}
