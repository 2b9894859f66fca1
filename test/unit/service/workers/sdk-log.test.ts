import { expect, test } from "vitest";
import { errorLines, unsentResult } from "../../../../service/workers/sdk-log";

/** A line that the Python SDK logs. */
const line = (message: string, level = "ERROR", requestId: string | null = "job-1"): string =>
  `{"requestId": ${JSON.stringify(requestId)}, "message": ${JSON.stringify(message)}, "level": "${level}"}`;

test.each([
  "Object of type bytes is not JSON serializable",
  "keys must be str, int, float, bool or None, not tuple",
  "Circular reference detected",
  "maximum recursion depth exceeded while encoding a JSON object",
  "'utf-8' codec can't encode character '\\ud800' in position 12: surrogates not allowed",
])("a result is never sent if the SDK logs: %s", (reason) => {
  for (const prefix of ["Error while returning job result. | ", "Error handling job: "])
    expect(unsentResult(line(`${prefix}${reason}`))).toEqual({ jobId: "job-1", reason });
});

test.each([
  ["a connection fails", line("Failed to return job results. | Connection reset by peer")],
  ["the worker ends", line("Error while returning job result. | Session is closed")],
  ["the line is no error", line("Error while returning job result. | not JSON serializable", "INFO")],
  ["the line names no job", line("Error while returning job result. | not JSON serializable", "ERROR", null)],
  ["the handler prints the text", "Error while returning job result. | not JSON serializable"],
  ["the line is cut", line("Error while returning job result. | not JSON serializable").slice(0, -1)],
])("a result may be sent again if %s", (_what, text) => {
  expect(unsentResult(text)).toBeUndefined();
});

test("an uncaught exception that the SDK logs in one line is reported with its lines", () => {
  const parts = String.raw`['Traceback (most recent call last):\n', '  File "/w/h.py", line 3, in f\n    start()\n', "ValueError: it's \"no\" model\n"]`;
  expect(errorLines(line(`Uncaught exception | ${parts}`, "ERROR", null))).toEqual([
    "Traceback (most recent call last):",
    '  File "/w/h.py", line 3, in f',
    "    start()",
    `ValueError: it's "no" model`,
  ]);
  expect(errorLines(line("first\nsecond"))).toEqual(["first", "second"]);
  for (const other of [line("Started.", "INFO"), "plain text", '{"requestId": 5}'])
    expect(errorLines(other)).toBeUndefined();
});
