import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Characters of one line that logs and error texts keep; the rest of a longer line is dropped as it arrives. */
export const longestLine = 64 * 1024;

/**
 * Reads a stream line by line; resolves at its end. A line that never ends needs no more memory than a long one: its
 * beginning is passed on once, marked with "…", as soon as it is too long.
 */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let line = "";
  let cut = false;

  function add(text: string): void {
    if (cut) return;
    if (line.length + text.length <= longestLine) {
      line += text;
      return;
    }
    onLine(`${line}${text.slice(0, longestLine - line.length)}…`);
    line = "";
    cut = true;
  }
  function endLine(): void {
    if (!cut) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    line = "";
    cut = false;
  }
  function take(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      add(text.slice(from, end));
      endLine();
      from = end + 1;
    }
    add(text.slice(from));
  }

  return new Promise((resolve) => {
    stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    // The output of a worker that failed to start, and output that is no longer read, close without an end.
    stream.once("close", () => {
      take(decoder.end());
      if (line !== "") endLine();
      resolve();
    });
    stream.once("error", () => undefined);
  });
}

/** Lines that a report of a worker's end has. */
const keptLines = 20;
/** Characters of one line in such a report. */
const longestKept = 16 * 1024;

/** Keeps the last lines of an output for the report of its end. */
export function createLastLines(): { readonly lines: string[]; add(line: string): void } {
  const lines: string[] = [];
  return {
    lines,
    add(line) {
      lines.push(line.length > longestKept ? `${line.slice(0, longestKept)}…` : line);
      if (lines.length > keptLines) lines.shift();
    },
  };
}
