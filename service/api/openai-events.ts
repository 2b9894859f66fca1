import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "serverless-compute-api/clock";
import { memberTexts } from "serverless-compute-api/json-text";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ServiceError } from "../errors";
import { eventStreamType, eventText } from "../server-sent-events";
import { openaiErrorBody } from "./responses";

/** Time without reads after which a client counts as disconnected, ms. */
const readTimeout = limits.runsyncWait.max;

/** Server-sent events of one call of /openai. Each method resolves once the client can receive more. */
export function createEventWriter(raw: ServerResponse, clock: Clock, disconnect: AbortSignal) {
  let partialText = "";
  const events = createEventText();
  raw.writeHead(200, { "content-type": eventStreamType, "cache-control": "no-cache" });

  async function write(text: string): Promise<void> {
    if (text === "" || disconnect.aborted || raw.write(text)) return;
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
    /** Writes a value (JSON). */
    writeValue: (json: string): Promise<void> => write(events.next(json)),
    /** Writes a chunk of the job's stream (JSON); parts of a split chunk become one value. */
    async writeChunk(chunk: string): Promise<void> {
      const members = memberTexts(chunk);
      const output = members?.get("output") ?? "null";
      const metrics = memberTexts(members?.get("metrics") ?? "{}");
      const partCount = metrics?.get("parts");
      if (partCount === undefined) return write(events.next(output));
      partialText += textOf(output);
      if (metrics?.get("part") !== partCount) return;
      const completeOutput = metrics.get("encoding") === '"json"' ? partialText : JSON.stringify(partialText);
      partialText = "";
      await write(events.next(completeOutput));
    },
    /** Ends a complete stream. */
    async end(): Promise<void> {
      raw.end(events.end());
    },
    /** Ends a failed stream with an error event, which OpenAI's clients throw; no [DONE] follows. */
    async fail(error: ServiceError): Promise<void> {
      await write(events.next(JSON.stringify(openaiErrorBody(error))));
      raw.end();
    },
  };
}

/** The fields of an event stream, and its comments. */
const fields = ["data:", "event:", "id:", "retry:", ": "];
const isField = (text: string): boolean => fields.some((field) => text.startsWith(field)) || /^:\r?\n/.test(text);

/** Returns whether a line is complete although its line break is missing; of JSON, only the text shows it. */
function isCompleteLine(line: string): boolean {
  const [, data = ""] = /^data: ?(.*)$/s.exec(line) ?? [];
  if (!/^[[{"]/.test(data) || data === "[DONE]") return true;
  try {
    memberTexts(data);
    return true;
  } catch {
    return false;
  }
}

/** The last, unfinished event of a stream. Only its last line is kept, in parts, because it may arrive in many of them. */
function createUnfinishedEvent() {
  let hasLineBreak = false;
  let parts: string[] = [];
  function line(): string {
    const text = parts.join("");
    parts = text === "" ? [] : [text];
    return text;
  }
  return {
    /** The text after the event's last line break. */
    line,
    /** Returns whether a text is the next line of the event, although the line break before it is missing. */
    isFollowedBy: (text: string): boolean => isField(text) && line() !== "" && isCompleteLine(line()),
    add(text: string): void {
      if (!text.includes("\n")) {
        if (text !== "") parts.push(text);
        return;
      }
      const event = `${hasLineBreak ? "\n" : ""}${line()}${text}`.split(/\n\r?\n/).at(-1) ?? "";
      hasLineBreak = event.includes("\n");
      parts = [event.slice(event.lastIndexOf("\n") + 1)].filter((part) => part !== "");
    },
    /** The line breaks that end the event. */
    missingEnd: (): string => (parts.length > 0 ? "\n\n" : hasLineBreak ? "\n" : ""),
    clear(): void {
      hasLineBreak = false;
      parts = [];
    },
  };
}

/**
 * Converts the values of a handler (JSON) to an event stream. A value becomes the data of an event. Once a text is a part of an event
 * stream, it and all further texts are sent unchanged, because workers yield such a stream as they receive it, split anywhere. Only
 * line breaks that a worker has removed are added. A stream of the handler itself ends without an additional [DONE].
 */
export function createEventText() {
  let hasValues = false;
  let isEventStream = false;
  /** First texts that together may be the beginning of a field. */
  let undecided: string[] = [];
  const unfinished = createUnfinishedEvent();

  function passText(text: string): string {
    isEventStream = true;
    const isCut = !unfinished.isFollowedBy(text);
    const passed = isCut ? text : `${unfinished.line().startsWith("data:") ? "\n\n" : "\n"}${text}`;
    unfinished.add(passed);
    return passed;
  }
  function valueEvent(json: string): string {
    const end = unfinished.missingEnd();
    hasValues = true;
    unfinished.clear();
    return `${end}${eventText({ data: json })}`;
  }
  function decide(): string {
    const texts = undecided;
    undecided = [];
    return texts.map((text) => valueEvent(JSON.stringify(text))).join("");
  }

  return {
    /** The text that the next value adds to the stream. */
    next(json: string): string {
      if (!json.startsWith('"')) return `${decide()}${valueEvent(json)}`;
      const part = textOf(json);
      const text = undecided.join("") + part;
      if (!isEventStream && !hasValues && text !== "" && fields.some((field) => field.startsWith(text))) {
        undecided.push(part);
        return "";
      }
      if (!isEventStream && !(hasValues ? text.startsWith("data:") : isField(text)))
        return `${decide()}${valueEvent(json)}`;
      undecided = [];
      return passText(text);
    },
    end(): string {
      const rest = `${decide()}${unfinished.missingEnd()}`;
      return hasValues || !isEventStream ? `${rest}${eventText({ data: "[DONE]" })}` : rest;
    },
  };
}

const textOf = (json: string): string => z.string().parse(JSON.parse(json));
