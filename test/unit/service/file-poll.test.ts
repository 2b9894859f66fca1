import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { pollFile } from "../../../service/file-poll";
import { scratchFile } from "./workers/support/programs";

const interval = 10;

/** Polls the time of a new file; `setTime` changes it, in seconds. */
function polledFile() {
  const file = scratchFile();
  const setTime = (time: number): void => {
    writeFileSync(file, "");
    utimesSync(file, time, time);
  };
  setTime(1);
  let changes = 0;
  const poll = pollFile(
    file,
    ({ mtimeMs }) => mtimeMs,
    interval,
    () => changes++,
  );
  onTestFinished(poll.close);
  return { file, setTime, poll, changes: () => changes };
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3 * interval));

test("a change immediately after the call is noticed once", async () => {
  const { setTime, changes } = polledFile();
  setTime(2);
  await expect.poll(changes).toBe(1);
  await pause();
  expect(changes()).toBe(1);
});

test("a file that was deleted is noticed once it exists again with another time", async () => {
  const { file, setTime, changes } = polledFile();
  rmSync(file);
  await pause();
  expect(changes()).toBe(0);
  setTime(2);
  await expect.poll(changes).toBe(1);
});

test("nothing is noticed after the end", async () => {
  const { setTime, poll, changes } = polledFile();
  poll.close();
  setTime(2);
  await pause();
  expect(changes()).toBe(0);
});
