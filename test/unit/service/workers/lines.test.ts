import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { maxLineLength, readLines } from "../../../../service/workers/lines";

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
