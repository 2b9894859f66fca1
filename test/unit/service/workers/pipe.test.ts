import { duplexPair } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { limits } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { toQueued, toRunning } from "../../../../service/queue/job";
import { steadyClock } from "../../../../service/steady-clock";
import type { WorkerPipe } from "../../../../service/workers/dispatcher";
import { servePipe } from "../../../../service/workers/pipe";
import { createWorkerRegistry } from "../../../../service/workers/registry";
import { jobText, oversize, readResult, resultLimit } from "../../../../service/workers/results";
import { ManualClock } from "../../../support/manual-clock";
import { submissionAt } from "../queue/support/queue-rig";

test("a worker that yields small chunks faster than the store writes them waits, so that other jobs do not wait behind them", async () => {
  const worker = createWorkerRegistry(steadyClock(new ManualClock()), () => true).join({
    id: "w",
    endpointId: "endpoint",
    redact: String,
  });
  const job = toRunning(toQueued(submissionAt(0), 1, 1), "w", 0);
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

/** A worker at the service's end of a pipe, with a job of /run if it is `ready`. */
async function usePipe() {
  const worker = createWorkerRegistry(steadyClock(new ManualClock()), () => true).join({
    id: "w",
    endpointId: "endpoint",
    redact: String,
  });
  const job = toRunning(toQueued(submissionAt(0), 1, 1), "w", 0);
  const [pipe, workerEnd] = duplexPair();
  const received: string[] = [];
  workerEnd.setEncoding("utf8").on("data", (text: string) => received.push(text));
  const ends: unknown[] = [];
  const chunks: unknown[] = [];
  const errors: unknown[] = [];
  let connection: WorkerPipe | undefined;
  servePipe(pipe, worker, {
    dispatcher: {
      connect(_worker, opened) {
        expect(connection).toBeUndefined();
        connection = opened;
      },
      async finish(_worker, jobId, { output, error }, refresh) {
        ends.push({ jobId, output, error, refresh });
      },
    },
    stream: {
      async append(_jobId, _worker, { output }) {
        if (output === '"unwritable"') throw new Error("disk full");
        return chunks.push(output) > 0;
      },
    },
    onStoreError: (error) => errors.push(error),
  });
  const say = async (...lines: string[]): Promise<void> => {
    // A socket splits long lines.
    for (const part of lines.flatMap((line) => `${line}\n`.match(/.{1,1000000}/gs) ?? []))
      await new Promise((resolve) => workerEnd.write(part, resolve));
    await turn();
  };
  const assign = async (): Promise<void> => {
    connection?.send({ job, input: '{"a": 1.0}', s3Config: undefined });
    await turn();
  };
  return { job, say, assign, stop: () => connection?.stop("old"), received, ends, chunks, errors };
}

test("a ready worker gets its job and the jobs to stop as lines", async () => {
  const { say, assign, stop, received } = await usePipe();
  await say('{"ready":true}', '{"ready":true}');
  await assign();
  stop();
  await turn();
  expect(received.join("")).toBe('{"id":"job","input":{"a": 1.0}}\n{"stop":"old"}\n');
});

const accepted = { jobId: "job", error: undefined, refresh: false };
const rejected = (reason: string) => ({
  jobId: "job",
  output: undefined,
  error: `the worker's result was rejected: ${reason}`,
  refresh: true,
});

/** Lines of a worker with the job "job", and the end of the job. */
const results: [string, string[], unknown[]][] = [
  ["ends its job with the output", ['{"id":"job","output":1.0}'], [{ ...accepted, output: "1.0" }]],
  ["ends its job once", ['{"id":"job","output":1}', '{"id":"job","output":2}'], [{ ...accepted, output: "1" }]],
  [
    "may request its replacement",
    ['{"id":"job","output":1,"stopPod":true}'],
    [{ ...accepted, output: "1", refresh: true }],
  ],
  ["cannot end another job", ['{"id":"other","output":1}'], []],
  ["is replaced after a line that is no JSON", ["oops"], [expect.objectContaining({ jobId: "job", refresh: true })]],
  ["is replaced after a line that is no object", ["[1]"], [rejected("must be a JSON object")]],
  [
    "is replaced after a result that is too long, whose rest is ignored",
    [`{"id":"job","output":"${"x".repeat(2 * resultLimit)}`, '{"id":"job","output":1}'],
    [rejected(oversize("run"))],
  ],
];

test.each(results)("a worker %s", async (_rule, lines, end) => {
  const { say, assign, ends, errors } = await usePipe();
  await say('{"ready":true}');
  await assign();
  await say(...lines);
  expect(ends).toEqual(end);
  expect(errors).toEqual([]);
});

test("a worker without a job is not replaced after an invalid line", async () => {
  const { say, ends, errors } = await usePipe();
  await say('{"ready":true}', "oops", `${"x".repeat(2 * resultLimit)}`);
  expect([ends, errors]).toEqual([[], []]);
});

test("chunks belong to the worker's job, and an unwritable one is an error of the store", async () => {
  const { say, assign, chunks, errors, ends } = await usePipe();
  await say('{"ready":true}', '{"id":"job","chunk":0}');
  await assign();
  await say('{"id":"job","chunk":1}', '{"id":"other","chunk":2}', '{"id":"job","chunk":"unwritable"}');
  expect(chunks).toEqual(["1"]);
  expect(errors).toEqual([new Error("disk full")]);
  expect(ends).toEqual([]);
});

test("a job's line has only the members that it has", async () => {
  const { job } = await usePipe();
  expect(jobText({ job, input: undefined, s3Config: undefined })).toBe('{"id":"job"}');
  expect(jobText({ job, input: "1.0", s3Config: "{}" })).toBe('{"id":"job","input":1.0,"s3Config":{}}');
});

test.each([
  ["run", limits.runPayload],
  ["runsync", limits.runsyncPayload],
  ["openai", limits.runsyncPayload],
] as const)("an output of a job of /%s may have %i bytes", (operation, bytes) => {
  const read = (output: string) => readResult(new Map([["output", output]]), operation);
  const longest = `"${"é".repeat(bytes / 2 - 1)}"`;
  expect(read(longest).output).toBe(longest);
  const error = `the output has ${bytes + 2} bytes, more than the limit of ${bytes} for /${operation}; store it elsewhere`;
  expect(read(`${longest}  `)).toMatchObject({ output: undefined, error: expect.stringContaining(error) });
});
