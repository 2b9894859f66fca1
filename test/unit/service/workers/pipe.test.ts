import { duplexPair } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { toQueued, toRunning } from "../../../../service/queue/job";
import { servePipe } from "../../../../service/workers/pipe";
import { createWorkerRegistry } from "../../../../service/workers/registry";
import { ManualClock } from "../../../support/manual-clock";
import { submissionAt } from "../queue/support/queue-rig";

test("a worker that yields small chunks faster than the store writes them waits, so that other jobs do not wait behind them", async () => {
  const clock = new ManualClock();
  const worker = createWorkerRegistry(clock).join({ id: "w", endpointId: "endpoint", redact: String });
  const job = toRunning(toQueued(submissionAt(0), 1, 1, clock), "w", clock);
  const [pipe, workerEnd] = duplexPair();
  let received = 0;
  let written = 0;
  let isWriting = false;
  const writes: (() => void)[] = [];
  servePipe(pipe, worker, {
    dispatcher: {
      connect: (_worker, { send }) => send({ job, input: "{}", s3Config: undefined }),
      finish: async () => undefined,
    },
    stream: {
      async append() {
        received++;
        if (!isWriting) await new Promise<void>((resolve) => writes.push(resolve));
        written++;
        return true;
      },
    },
    onStoreError: (error) => {
      throw error;
    },
  });
  workerEnd.write('{"ready":true}\n');
  const block = { lines: 100, count: 300 };
  for (let sent = 0; sent < block.count; sent++) {
    workerEnd.write(`{"id":"${job.id}","chunk":1}\n`.repeat(block.lines));
    await turn();
  }
  expect(received).toBeGreaterThan(0);
  expect(received, "chunks that wait for the store").toBeLessThan(1000);
  isWriting = true;
  for (const write of writes) write();
  await expect.poll(() => written).toBe(block.lines * block.count);
});
