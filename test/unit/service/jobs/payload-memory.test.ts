import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { readSubmission } from "../../../../service/api/submission";
import { openJobsRig } from "./support/jobs-rig";

const megabyte = 1024 * 1024;

/** Bytes of the heap that are in use after a collection of garbage. */
function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  z.function({ input: [], output: z.void() }).parse(runInNewContext("gc"))();
  return process.memoryUsage().heapUsed;
}

test.each(["s3Config", "ignored"])(
  "queued jobs whose bodies contain a large %s do not fill the memory",
  async (member) => {
    const rig = openJobsRig();
    onTestFinished(() => rig.close());
    const before = usedHeap();
    for (let count = 0; count < 20; count++) {
      const body = Buffer.from(
        `{"input":{"prompt":"short"},"${member}":{"a":"${"x".repeat(5 * megabyte)}"}}`,
      ).toString();
      await rig.jobs.submit(readSubmission("endpoint", "run", body, rig.clock.now()));
    }
    expect((usedHeap() - before) / megabyte).toBeLessThan(30);
    const [taken] = await rig.jobs.take("endpoint", "w", 1);
    expect(taken).toMatchObject({ input: '{"prompt":"short"}' });
  },
);
