import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createLastLines, maxLineLength, readLines } from "../../../../service/workers/lines";

/** Lines reported for these separately written chunks. */
async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  const done = readLines(stream, (line) => lines.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await done;
  return lines;
}

test("lines are reported complete even if chunks split them; the last line does not require a newline", async () => {
  expect(await linesOf("one\ntw", "o\r\n", "\nthree")).toEqual(["one", "two", "", "three"]);
  const umlaut = Buffer.from("grün\n");
  expect(await linesOf(umlaut.subarray(0, 3), umlaut.subarray(3))).toEqual(["grün"]);
});

test("an endless line is reported truncated while it continues, and later lines are reported as usual", async () => {
  const stream = new PassThrough({ highWaterMark: 1 << 26 });
  const lines: string[] = [];
  const done = readLines(stream, (line) => lines.push(line));
  for (let at = 0; at < 200; at++) stream.write("x".repeat(maxLineLength / 4));
  await expect.poll(() => lines.length, { interval: 5 }).toBe(1);
  expect(lines[0]).toBe(`${"x".repeat(maxLineLength)}…`);
  stream.end("\nnext\n");
  await done;
  expect(lines.slice(1)).toEqual(["next"]);
});

test("a line of exactly the maximum length is reported complete", async () => {
  expect(await linesOf(`${"y".repeat(maxLineLength)}\n`)).toEqual(["y".repeat(maxLineLength)]);
});

describe("the report of a worker's end", () => {
  function reportOf(output: string[], errors: string[] = []): string[] {
    const passedOn: string[] = [];
    const last = createLastLines((line) => passedOn.push(line));
    for (const line of output) last.addOutput(line);
    for (const line of errors) last.addError(line);
    expect(passedOn).toEqual([...output, ...errors]);
    return last.lines;
  }

  test("contains the errors, or the output of a program without errors", () => {
    expect(reportOf(["out"], ["err"])).toEqual(["err"]);
    expect(reportOf(["out"])).toEqual(["out"]);
    expect(reportOf([])).toEqual([]);
  });

  test("contains the last 20 lines, of which a long one is truncated", () => {
    const lines = Array.from({ length: 22 }, (_, index) => `line ${index}`);
    expect(reportOf([], lines)).toEqual(lines.slice(2));
    const longest = "x".repeat(16 * 1024);
    expect(reportOf([longest, `${longest}y`])).toEqual([longest, `${longest}…`]);
  });

  test("contains the errors that the Python SDK logs to stdout", () => {
    const error = '{"requestId": null, "message": "no model", "level": "ERROR"}';
    expect(reportOf(["a line", error])).toEqual(["no model"]);
  });
});
