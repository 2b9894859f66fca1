import { expect, onTestFinished, test } from "vitest";
import { createTableWriter } from "../../../../service/jobs/table-writer";

test("tables that cannot be written are tried again until they can, and the log says so once each time", async () => {
  const logged: unknown[] = [];
  const outcomes = ["full", "full", "full", "written", "full", "written"];
  let written = 0;
  const attempt = (): void => {
    const outcome = outcomes.shift();
    if (outcome === "full") throw new Error(`disk full after ${written}`);
    written++;
  };
  const jobs = { writeOlder: attempt, writeLogged: attempt, writeDeferred: () => Promise.resolve() };
  const writer = createTableWriter(() => jobs, { error: ({ err }: { err: Error }) => void logged.push(err.message) });
  onTestFinished(() => writer.stop());
  writer.deferred();
  await expect.poll(() => written, { interval: 5 }).toBe(1);
  writer.deferred();
  await expect.poll(() => written, { interval: 5 }).toBe(2);
  expect(logged).toEqual(["disk full after 0", "disk full after 1"]);
});
