import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { z } from "zod";
import { readSubmission } from "../../../../service/api/submission";
import { useJobs } from "./support/queue-rig";

const megabyte = 1024 * 1024;

/** Used bytes of the heap after garbage collection. */
function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  z.function({ input: [], output: z.void() }).parse(runInNewContext("gc"))();
  return process.memoryUsage().heapUsed;
}

test("queued jobs do not keep their bodies in memory", async () => {
  const { jobs, take, clock } = useJobs();
  const large = "x".repeat(2 * megabyte);
  const before = usedHeap();
  for (let count = 0; count < 15; count++) {
    const body = Buffer.from(`{"input":{"prompt":"short"},"s3Config":{"a":"${large}"}}`).toString();
    await jobs.submit(readSubmission("endpoint", "run", body, clock.now()));
  }
  expect((usedHeap() - before) / megabyte).toBeLessThan(15);
  const [taken] = await take("endpoint", "w");
  expect(taken).toMatchObject({ input: '{"prompt":"short"}' });
});
