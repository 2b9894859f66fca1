import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createLineSplitter } from "./line-splitter";
import { errorLines } from "./sdk-log";

/** Maximum line length in logs and errors, in characters; the rest of a longer line is dropped as it arrives. */
export const maxLineLength = 64 * 1024;

/**
 * Reads a stream line by line; resolves at its end. Memory is bounded: as soon as a line is too long, its beginning is passed on, marked
 * with "…".
 */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const decoder = new StringDecoder("utf8");
  const passOn = (line: string): void => onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  const splitter = createLineSplitter(passOn, maxLineLength, (beginning) => onLine(`${beginning}…`));
  return new Promise((resolve) => {
    stream.on("data", (chunk: Buffer) => splitter.add(decoder.write(chunk)));
    // The stream closes without an end if the worker failed to start or the output is no longer read.
    stream.once("close", () => {
      splitter.add(decoder.end());
      if (splitter.unfinishedLine() !== "") splitter.add("\n");
      resolve();
    });
    stream.once("error", () => undefined);
  });
}

/** Maximum number of lines in the report of a worker's end. */
const maxLines = 20;
/** Maximum line length in such a report, in characters. */
const maxReportedLength = 16 * 1024;

/** Passes the lines of a worker's output on, and keeps the last ones for the report of its end. */
export function createLastLines(onLine: (line: string) => void) {
  const stdout: string[] = [];
  const errors: string[] = [];
  const addTo = (lines: string[], line: string): void => {
    lines.push(line.length > maxReportedLength ? `${line.slice(0, maxReportedLength)}…` : line);
    if (lines.length > maxLines) lines.shift();
  };
  return {
    /** Adds a line of stdout. The Python SDK logs its errors there. */
    addOutput(line: string): void {
      const lines = errorLines(line);
      for (const one of lines ?? [line]) addTo(lines ? errors : stdout, one);
      onLine(line);
    },
    addError(line: string): void {
      addTo(errors, line);
      onLine(line);
    },
    /** The last errors; without any, the last lines of stdout, because some programs write their errors there. */
    get lines(): string[] {
      return errors.length > 0 ? errors : stdout;
    },
  };
}
