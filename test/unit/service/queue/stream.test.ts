import { limits } from "serverless-compute-api/shapes";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { useJobs } from "./support/queue-rig";

const chunk = z.object({ output: z.unknown(), metrics: z.record(z.string(), z.unknown()) });
const never = new AbortController().signal;

function rigOf() {
  const rig = useJobs();
  const { stream, pendingRequests } = rig;
  onTestFinished(() => pendingRequests.close());
  /** Reads the stream as one of several concurrent readers; `acknowledge` ends the read. */
  const begin = async (id: string, signal = never) => {
    const reading = await stream.read(() => rig.list.find("endpoint", id)?.job, signal);
    const texts = reading?.chunks ?? [];
    return { ...reading, texts, chunks: texts.map((text) => chunk.parse(JSON.parse(text))) };
  };
  const read = async (id: string, signal = never) => {
    const reading = await begin(id, signal);
    await reading.acknowledge?.(true);
    return reading;
  };
  const outputs = async (id: string) => (await read(id)).chunks.map(({ output }) => output);
  /** Appends a chunk of a worker. */
  const append = (id: string, workerId: string, output: unknown) =>
    stream.append(id, { id: workerId, endpointId: "endpoint" }, { output: JSON.stringify(output) });
  return { ...rig, append, begin, read, outputs };
}

test.each([
  ["chunks of a lost response reach the other reader in order", false, ["a", "b"]],
  ["a reader that arrives during a response receives the chunks after it", true, ["b"]],
] as const)("two readers of a stream: %s", { tags: ["reading:stream-readers"] }, async (_what, arrives, expected) => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.append(id, "w", "a");
  const first = await rig.begin(id);
  await rig.append(id, "w", "b");
  const second = rig.outputs(id);
  await rig.clock.advance(100);
  await first.acknowledge?.(arrives);
  expect(await second).toEqual(expected);
  expect(await rig.read(id, AbortSignal.abort())).toMatchObject({ chunks: [], done: false });
  await rig.jobs.finish(id, rig.worker, { output: "[]" });
  expect(await rig.read(id)).toMatchObject({ chunks: [], done: true });
});

test("a response has as many chunks as fit, but at least one", async () => {
  const { store } = rigOf();
  const texts = Array.from({ length: 100 }, (_, index) => String(index + 10));
  store.appendChunks(1, 0, texts);
  expect([1, 5, 6, 9].map((limit) => store.chunks(1, 90, limit).length)).toEqual([1, 1, 2, 3]);
  expect(store.chunks(1, 0, 1000)).toEqual(texts);
});

test("two readers of a stream: a slow reader delays the other no longer than an empty call", async () => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.append(id, "w", "a");
  const slow = await rig.begin(id);
  const other = rig.read(id);
  await rig.append(id, "w", "b");
  await rig.clock.advance(9_500);
  expect(await other).toMatchObject({ chunks: [], done: false });
  await slow.acknowledge?.(true);
  expect(await rig.outputs(id)).toEqual(["b"]);
});

test("a worker that lost the job cannot append to its stream, and the next worker restarts the stream", async () => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.append(id, "w", "old");
  await rig.jobs.requeue(id, rig.worker, "crashed", "x");
  expect(await rig.append(id, "w", "late")).toBe(false);
  await rig.take("endpoint", "other");
  await rig.append(id, "other", "new");
  expect((await rig.read(id)).chunks).toEqual([{ output: "new", metrics: { stream_index: 0 } }]);
});

test.each([
  ["a text with surrogate pairs", `x${"😀".repeat(400_000)}`],
  ["a text with escapes", '"\n'.repeat(600_000)],
  ["an object", { text: "é\\".repeat(500_000) }],
])("%s above 1 MB is split into parts of at most 1 MB that join to the value", async (_what, output) => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.append(id, "w", output);
  const parts: string[] = [];
  for (let more = await rig.read(id); more.chunks.length > 0; more = await rig.read(id, AbortSignal.abort())) {
    for (const text of more.texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.streamChunk);
    for (const { output: part, metrics } of more.chunks) {
      expect(metrics["encoding"]).toBe(typeof output === "string" ? undefined : "json");
      expect(String(part)).not.toMatch(/\p{Surrogate}/u);
      parts.push(String(part));
      expect(metrics).toMatchObject({ stream_index: parts.length - 1, part: parts.length });
    }
  }
  expect(parts.length).toBeGreaterThan(1);
  const joined = parts.join("");
  expect(typeof output === "string" ? joined : JSON.parse(joined)).toEqual(output);
});

test("metrics of the worker are added to a chunk and override the service's, unless they are not an object", async () => {
  const rig = rigOf();
  const id = await rig.run();
  for (const metrics of ['{"stream_index":7,"tokens":3}', "{}", "[1]", undefined])
    await rig.stream.append(id, rig.worker, { ...(metrics === undefined ? {} : { metrics }) });
  expect((await rig.read(id)).chunks).toEqual([
    { output: null, metrics: { stream_index: 7, tokens: 3 } },
    ...[1, 2, 3].map((index) => ({ output: null, metrics: { stream_index: index } })),
  ]);
});

test("the metrics of the worker count towards the 1 MB of a chunk; metrics that leave no room are rejected", async () => {
  const rig = rigOf();
  const id = await rig.run();
  const append = (size: number, output: string) =>
    rig.stream.append(id, rig.worker, {
      output: JSON.stringify(output),
      metrics: JSON.stringify({ log: "m".repeat(size) }),
    });
  await append(500_000, "x".repeat(1_000_000));
  await append(limits.streamChunk - 100, "y");
  const texts = (await rig.read(id)).texts;
  for (let more = texts; more.length > 0; more = (await rig.read(id, AbortSignal.abort())).texts)
    for (const text of more) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.streamChunk);
  expect(texts.length).toBeGreaterThan(2);
  await expect(append(limits.streamChunk, "z")).rejects.toThrow(
    "metrics: must leave half of a chunk of 1 MB to the output",
  );
});

test("a stream of a removed job has no reading, even if it is removed while another reader delays it", async () => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.append(id, "w", "a");
  const first = await rig.begin(id);
  const second = rig.stream.read(() => rig.list.find("endpoint", id)?.job, never);
  await rig.jobs.removeEndpoint("endpoint");
  await first.acknowledge?.(true);
  expect(await second).toBeUndefined();
  expect(await rig.stream.read(() => undefined, never)).toBeUndefined();
  const job = rig.list.find("endpoint", await rig.run())?.job;
  await rig.append(job?.id ?? "", "w", "a");
  const third = rig.stream.read(() => job, never);
  void rig.jobs.removeEndpoint("endpoint");
  expect(await third).toBeUndefined();
});

test.each(["requeued", "retried"])(
  "a lost response leaves the chunks of the next run of a %s job unread",
  async (what) => {
    const rig = rigOf();
    const id = await rig.run();
    await rig.append(id, "w", "a");
    await rig.read(id);
    await rig.append(id, "w", "b");
    const lost = await rig.begin(id);
    if (what === "requeued") await rig.jobs.requeue(id, rig.worker, "crashed", "lost");
    else {
      await rig.jobs.finish(id, rig.worker, { error: "no", output: undefined });
      await rig.jobs.retry("endpoint", id);
    }
    await rig.take("endpoint", "w");
    await rig.append(id, "w", "c");
    await lost.acknowledge?.(false);
    expect(await rig.outputs(id)).toEqual(["c"]);
  },
);
