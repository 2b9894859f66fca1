import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ServiceError } from "../errors";
import { memberTexts } from "../json-text";
import { openaiErrorBody } from "./responses";

const doneEvent = "data: [DONE]";

/** Time without reads after which a client counts as disconnected, ms. */
const readTimeout = limits.runsyncWait.max;

/** Server-sent events of one call of /openai. Each method resolves once the client can receive more. */
export function createEventWriter(raw: ServerResponse, clock: Clock, disconnect: AbortSignal) {
  let partialText = "";
  let hasEnded = false;
  raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });

  async function write(event: string): Promise<void> {
    hasEnded = event.includes(doneEvent);
    if (disconnect.aborted || raw.write(event)) return;
    const drainTimer = new AbortController();
    const timeout = clock.sleep(readTimeout, drainTimer.signal).then(
      () => raw.destroy(),
      () => undefined,
    );
    await once(raw, "drain", { signal: disconnect }).catch(() => undefined);
    drainTimer.abort();
    await timeout;
  }

  return {
    write,
    /** Writes a chunk of the job's stream (JSON); parts of a split chunk become one event. */
    async writeChunk(chunk: string): Promise<void> {
      const members = memberTexts(chunk);
      const output = members?.get("output") ?? "null";
      const metrics = memberTexts(members?.get("metrics") ?? "{}");
      const partCount = metrics?.get("parts");
      if (partCount === undefined) return write(eventOf(output));
      partialText += textOf(output);
      if (metrics?.get("part") !== partCount) return;
      const completeOutput = metrics.get("encoding") === '"json"' ? partialText : JSON.stringify(partialText);
      partialText = "";
      await write(eventOf(completeOutput));
    },
    /** Ends a complete stream. */
    async end(): Promise<void> {
      raw.end(hasEnded ? "" : `${doneEvent}\n\n`);
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
