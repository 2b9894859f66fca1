import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openWorkerLogEvents } from "../../../../service/api/management/worker-log-events";
import { scratchFolder } from "../../../support/folders";
import { hasProc } from "../../../support/stack-processes";

const file = join(scratchFolder(afterAll), "endpoint.log");
await writeFile(
  file,
  [
    "2026-11-26T11:00:00.000Z w first",
    "2026-11-26T11:00:00.500Z w second",
    "2026-11-26T11:00:00.500Z w third",
    "2026-11-26T11:00:01.000Z w fourth",
    "",
  ].join("\n"),
);

/** Open handles of the log in this process. */
const openHandles = (): string[] =>
  readdirSync("/proc/self/fd").filter((handle) => {
    const target = `/proc/self/fd/${handle}`;
    return existsSync(target) && readlinkSync(target) === file;
  });

/** The lines after a time. */
async function linesAfter(after: string): Promise<string[]> {
  const events = await openWorkerLogEvents({
    file,
    workerId: "w",
    source: "container",
    tail: 0,
    after,
    isRunning: () => false,
  });
  let text = "";
  for await (const event of events ?? []) text += event;
  return [...text.matchAll(/"line":"(\w+)"/g)].map(([, line = ""]) => line);
}

test.each([
  ["a whole second", "2026-11-26T11:00:00Z", ["second", "third", "fourth"]],
  ["milliseconds", "2026-11-26T11:00:00.500Z", ["third", "fourth"]],
  ["the nanoseconds of an event id", "2026-11-26T11:00:00.500000001Z", ["fourth"]],
  ["a tenth digit of the fraction", "2026-11-26T11:00:00.5000000009Z", ["third", "fourth"]],
  ["an offset to the east", "2026-11-26T13:00:00.400+02:00", ["second", "third", "fourth"]],
  ["an offset to the west", "2026-11-26T09:00:00.600-02:00", ["fourth"]],
])("a time with %s selects the lines after it", async (_form, after, lines) => {
  expect(await linesAfter(after)).toEqual(lines);
});

test.runIf(hasProc)("a stream closes the log, even if it is destroyed before its first read", async () => {
  expect(await linesAfter("2026-11-26T11:00:00Z")).toHaveLength(3);
  await expect.poll(openHandles, { timeout: 20_000 }).toEqual([]);
  const events = await openWorkerLogEvents({
    file,
    workerId: "w",
    source: "container",
    tail: 0,
    after: undefined,
    isRunning: () => true,
  });
  expect(openHandles()).toHaveLength(1);
  const closed = events && once(events, "close");
  events?.destroy();
  await closed;
  await expect.poll(openHandles, { timeout: 20_000 }).toEqual([]);
});
