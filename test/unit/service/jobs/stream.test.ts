import fc from "fast-check";
import { limits } from "serverless-compute-api/shapes";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openJobsRig } from "./support/jobs-rig";

const chunk = z.object({ output: z.unknown(), metrics: z.record(z.string(), z.unknown()) });
const never = new AbortController().signal;

function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const { stream, waits } = rig;
  onTestFinished(() => waits.close());
  const find = (id: string) => () => rig.records.find("endpoint", id)?.job;
  /** One of several concurrent reads; it must complete unless `arrives` is false. */
  const read = async (id: string, signal = never, arrives = true) => {
    const reading = await stream.readInTurn(find(id), signal);
    if (arrives) await reading?.acknowledge(true);
    return {
      ...reading,
      chunks: (reading?.chunks ?? []).map((text) => chunk.parse(JSON.parse(text))),
      texts: reading?.chunks ?? [],
    };
  };
  const running = async () => {
    const job = rig.newJob();
    await rig.jobs.submit(job);
    await rig.jobs.take("endpoint", "w", 1);
    return job.id;
  };
  /** A worker sends a chunk. */
  const append = (id: string, workerId: string, output: unknown, metrics?: object) =>
    stream.append(id, workerId, {
      output: JSON.stringify(output),
      metrics: metrics && JSON.stringify(metrics),
    });
  return { ...rig, append, read, running };
}

test("each chunk is read once, in order, and the last read is marked as done", async () => {
  const rig = rigOf();
  const id = await rig.running();
  for (const output of ["a", "b"]) await rig.append(id, "w", output);
  const first = await rig.read(id);
  expect(first.chunks).toEqual([
    { output: "a", metrics: { stream_index: 0 } },
    { output: "b", metrics: { stream_index: 1 } },
  ]);
  expect(first.done).toBe(false);
  await rig.append(id, "w", "c");
  await rig.jobs.finish(id, "w", { output: "[]" });
  const last = await rig.read(id);
  expect(last.chunks.map(({ output }) => output)).toEqual(["c"]);
  expect(last.done).toBe(true);
  expect((await rig.read(id)).chunks).toEqual([]);
});

test("chunks of a lost response are read again", async () => {
  const rig = rigOf();
  const id = await rig.running();
  await rig.append(id, "w", "a");
  const lost = await rig.read(id, never, false);
  await lost.acknowledge?.(false);
  expect((await rig.read(id)).chunks).toHaveLength(1);
});

test("two readers of a stream: chunks of one's lost response reach the other in order, and nothing is repeated", {
  tags: ["reading:stream-readers"],
}, async () => {
  const rig = rigOf();
  const id = await rig.running();
  await rig.append(id, "w", "a");
  const first = await rig.read(id, never, false);
  await rig.append(id, "w", "b");
  const second = rig.read(id);
  await rig.clock.advance(100);
  await first.acknowledge?.(false);
  expect((await second).chunks.map(({ output }) => output)).toEqual(["a", "b"]);
  await rig.jobs.finish(id, "w", { output: "[]" });
  expect((await rig.read(id)).chunks).toEqual([]);
});

test("two readers of a stream: a reader that arrives during a response gets the chunks after it", async () => {
  const rig = rigOf();
  const id = await rig.running();
  await rig.append(id, "w", "a");
  const first = await rig.read(id, never, false);
  await rig.append(id, "w", "b");
  const second = rig.read(id);
  await rig.clock.advance(100);
  await first.acknowledge?.(true);
  expect((await second).chunks.map(({ output }) => output)).toEqual(["b"]);
});

test("two readers of a stream: a slow reader delays the other no longer than an empty call", async () => {
  const rig = rigOf();
  const id = await rig.running();
  await rig.append(id, "w", "a");
  const slow = await rig.read(id, never, false);
  const other = rig.read(id);
  await rig.append(id, "w", "b");
  await rig.clock.advance(9_500);
  expect(await other).toMatchObject({ chunks: [], done: false });
  await slow.acknowledge?.(true);
  expect((await rig.read(id)).chunks.map(({ output }) => output)).toEqual(["b"]);
});

test("a worker that lost the job adds nothing to its stream, and the next worker starts it over", async () => {
  const rig = rigOf();
  const id = await rig.running();
  await rig.append(id, "w", "old");
  await rig.jobs.requeue(id, "w", "crashed", "x");
  expect(await rig.append(id, "w", "late")).toBe(false);
  await rig.jobs.take("endpoint", "other", 1);
  await rig.append(id, "other", "new");
  expect((await rig.read(id)).chunks).toEqual([{ output: "new", metrics: { stream_index: 0 } }]);
});

test("values above 1 MB are split into parts of at most 1 MB that join to the value", async () => {
  const rig = rigOf();
  const unit = fc.constantFrom("x", "é", "😀", '"', "\n", "\\");
  const big = fc
    .tuple(unit, unit, fc.integer({ min: 300_000, max: 1_500_000 }))
    .map(([a, b, n]) => (a + b).repeat(n / 2));
  const value = fc.oneof(
    big,
    big.map((text) => ({ text })),
    big.map((text) => [text, 1]),
  );
  await fc.assert(
    fc.asyncProperty(value, async (output) => {
      const id = await rig.running();
      await rig.append(id, "w", output);
      const parts: string[] = [];
      const whole: unknown[] = [];
      for (let more = await rig.read(id); more.chunks.length > 0; more = await rig.read(id, AbortSignal.abort())) {
        for (const text of more.texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.streamChunk);
        for (const { output: part, metrics } of more.chunks) {
          if (metrics["parts"] === undefined) whole.push(part);
          else parts.push(String(part));
        }
      }
      const joined = parts.join("");
      expect(whole[0] ?? (typeof output === "string" ? joined : JSON.parse(joined))).toEqual(output);
      await rig.jobs.finish(id, "w", { output: undefined });
    }),
    { numRuns: 6 },
  );
}, 30_000);
