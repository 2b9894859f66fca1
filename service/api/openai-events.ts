import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ServiceError } from "../errors";
import { memberTexts } from "../json-text";
import { openaiErrorBody } from "./responses";

const done = "data: [DONE]";

/** Time without reads after which a client counts as disconnected, ms. */
const patience = limits.runsyncWait.max;

/** Server-sent events of one call of /openai. Each method resolves once the client can receive more. */
export function createEventWriter(raw: ServerResponse, clock: Clock, gone: AbortSignal) {
  let parts = "";
  let ended = false;
  raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });

  async function write(event: string): Promise<void> {
    ended = event.includes(done);
    if (gone.aborted || raw.write(event)) return;
    const drained = new AbortController();
    const stalled = clock.sleep(patience, drained.signal).then(
      () => raw.destroy(),
      () => undefined,
    );
    await once(raw, "drain", { signal: gone }).catch(() => undefined);
    drained.abort();
    await stalled;
  }

  return {
    write,
    /** Writes a chunk of the job's stream (JSON); parts of a split chunk become one event. */
    async writeChunk(chunk: string): Promise<void> {
      const members = memberTexts(chunk);
      const output = members?.get("output") ?? "null";
      const metrics = memberTexts(members?.get("metrics") ?? "{}");
      const count = metrics?.get("parts");
      if (count === undefined) return write(eventOf(output));
      parts += textOf(output);
      if (metrics?.get("part") !== count) return;
      const whole = metrics.get("encoding") === '"json"' ? parts : JSON.stringify(parts);
      parts = "";
      await write(eventOf(whole));
    },
    /** Ends a complete stream. */
    async end(): Promise<void> {
      raw.end(ended ? "" : `${done}\n\n`);
    },
    /** Ends a failed stream with an error event, which OpenAI's clients throw; no [DONE] follows. */
    async fail(error: ServiceError): Promise<void> {
      await write(`data: ${JSON.stringify(openaiErrorBody(error))}\n\n`);
      raw.end();
    },
  };
}

const textOf = (json: string): string => z.string().parse(JSON.parse(json));

/** The event of a JSON value. A string that is already an event is sent unchanged; any other value becomes the event's data. */
export function eventOf(output: string): string {
  // A line break between JSON tokens would end the event's data line.
  if (!output.startsWith('"data:')) return `data: ${output.replace(/[\r\n]+/g, " ")}\n\n`;
  const event = textOf(output);
  return event.endsWith("\n\n") ? event : `${event.trimEnd()}\n\n`;
}
