import { z } from "zod";

/** Parts of engine events that tests read. */
const eventShape = z.looseObject({
  diagnosticEvent: z
    .looseObject({
      urn: z.string().optional(),
      message: z.string(),
      severity: z.string(),
      ephemeral: z.boolean().optional(),
    })
    .optional(),
  resOutputsEvent: z.looseObject({ metadata: z.looseObject({ op: z.string(), urn: z.string() }) }).optional(),
  resourcePreEvent: z.looseObject({ metadata: z.looseObject({ op: z.string(), urn: z.string() }) }).optional(),
});

/** A message of the engine or a provider, except debug messages. */
interface Diagnostic {
  /** Kind and name of its resource, such as `Template chat`; empty for the deployment. */
  resource: string;
  message: string;
  severity: string;
  /** True for a temporary message. */
  ephemeral: boolean;
}

/** Events of one engine run. */
export interface Events {
  /** Kind and name → operations, in order; `same` for unchanged resources. The stack itself is omitted. */
  operations: Record<string, string[]>;
  diagnostics: Diagnostic[];
}

/** `urn:…$pulumi-nodejs:dynamic/serverless:Template::chat` → `Template chat`. */
const shortName = (urn: string): string => {
  const [, , types = "", ...name] = urn.split("::");
  return `${types.split(":").at(-1) ?? ""} ${name.join("::")}`;
};

/** Reads the engine's event log: one JSON object per line. With `isPreview`, the operations are planned operations. */
export function readEvents(log: string, isPreview: boolean): Events {
  const lines = log.split("\n").filter((line) => line.trim() !== "");
  const events = lines.map((line) => eventShape.parse(JSON.parse(line)));
  const operations: Record<string, string[]> = {};
  for (const event of events) {
    const metadata = (isPreview ? event.resourcePreEvent : event.resOutputsEvent)?.metadata;
    if (!metadata || metadata.urn.includes("::pulumi:")) continue;
    const name = shortName(metadata.urn);
    operations[name] = [...(operations[name] ?? []), metadata.op];
  }
  const diagnostics = events.flatMap(({ diagnosticEvent: event }) =>
    event && event.severity !== "debug"
      ? [
          {
            resource: event.urn ? shortName(event.urn) : "",
            message: event.message.trim(),
            severity: event.severity,
            ephemeral: event.ephemeral ?? false,
          },
        ]
      : [],
  );
  return { operations, diagnostics };
}
