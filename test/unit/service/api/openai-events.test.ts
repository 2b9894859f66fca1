import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventText } from "../../../../service/api/openai-events";

/** The event stream for the values of a handler. */
function streamOf(values: unknown[]): string {
  const events = createEventText();
  return values.map((value) => events.next(JSON.stringify(value))).join("") + events.end();
}

const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((content) => content.replace(/[\r\n]/g, ""));
const data = fc.oneof(
  fc.record({ content: fc.oneof(text, fc.constant('data: {"x":1}')) }).map((value) => JSON.stringify(value)),
  fc.constant("[DONE]"),
);
const line = fc.oneof(
  data.map((content) => `data: ${content}`),
  text.map((name) => `event: ${name}`),
  text.map((comment) => `: ${comment}`),
  fc.nat().map((id) => `id: ${id}`),
);
const lineBreak = fc.constantFrom("\n", "\r\n");

test("an event stream that a worker yields in parts cut anywhere is sent unchanged", () => {
  const stream = fc
    .tuple(fc.array(fc.array(line, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }), lineBreak)
    .map(([events, end]) => events.map((lines) => `${lines.join(end)}${end}${end}`).join(""));
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(stream, cuts, (whole, places) => {
      const ends = [...places.map((place) => Math.floor(place * whole.length)), whole.length].sort((a, b) => a - b);
      const parts = ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end)).filter((part) => part !== "");
      expect(streamOf(parts)).toBe(whole);
    }),
    { seed: 17, numRuns: 1000 },
  );
});

test("a long event that a worker yields in many parts is sent unchanged, without reading it again for each part", () => {
  const parts = ["data: ", ...Array.from({ length: 100_000 }, (_, n) => `${n} `.repeat(5)), "\n", "\n"];
  expect(streamOf(parts)).toBe(parts.join(""));
});

test.each([
  ["objects", [{ a: 1 }, { a: 2 }], 'data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n'],
  [
    "words",
    ["d", "a", "te", ":", "\n"],
    'data: "d"\n\ndata: "a"\n\ndata: "te"\n\ndata: ":"\n\ndata: "\\n"\n\ndata: [DONE]\n\n',
  ],
  ["one word that begins like a field", ["data"], 'data: "data"\n\ndata: [DONE]\n\n'],
  ["nothing", [], "data: [DONE]\n\n"],
  [
    "events without line breaks",
    ["data: 1", 'data: {"a":2}', "data: [DONE]"],
    'data: 1\n\ndata: {"a":2}\n\ndata: [DONE]\n\n',
  ],
  [
    "lines without line breaks",
    ["event: a", "data: {}", "", "event: b", "data: []"],
    "event: a\ndata: {}\n\nevent: b\ndata: []\n\n",
  ],
  ["lines with line breaks", ['data: {"a":1}\n', "\n", "data: [DONE]\n", "\n"], 'data: {"a":1}\n\ndata: [DONE]\n\n'],
  ["an event in parts, of which one looks like a field", ['data:{"a":"', 'data: b"}'], 'data:{"a":"data: b"}\n\n'],
  [
    "an event that is not a complete line, then an error",
    ['data: {"a":', { error: 1 }],
    'data: {"a":\n\ndata: {"error":1}\n\ndata: [DONE]\n\n',
  ],
])("a handler that yields %s", (_what, values, expected) => {
  expect(streamOf(values)).toBe(expected);
});
