import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Maximum line length in logs and errors, in characters; the rest of a longer line is dropped as it arrives. */
export const longestLine = 64 * 1024;

/**
 * Reads a stream line by line; resolves at its end. Memory is bounded: as soon as a line is too long, its beginning is passed on, marked
 * with "…".
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
    // The stream closes without an end if the worker failed to start or the output is no longer read.
    stream.once("close", () => {
      take(decoder.end());
      if (line !== "") endLine();
      resolve();
    });
    stream.once("error", () => undefined);
  });
}

/** Maximum number of lines in the report of a worker's end. */
const keptLines = 20;
/** Maximum line length in such a report, in characters. */
const longestKept = 16 * 1024;

/** Keeps the last lines of a worker's output for the report of its end. */
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
