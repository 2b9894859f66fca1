import type { StreamChunk } from "serverless-compute-api";
import { expect, test } from "vitest";
import { apiErrorOf, type Rig, runClock, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";

const chunk = (output: unknown) => ({ output, metrics: {} });
const envelope = (status: string, ...outputs: unknown[]) => json({ status, stream: outputs.map(chunk) });
const array = (...outputs: unknown[]) => json(outputs.map(chunk));
const status = (value: string) => json({ id: "job", status: value });

/** A server with separate lists of responses for /stream and /status; the last one repeats. */
function serving(streams: Behaviour[], statuses: Behaviour[] = []) {
  let streamed = 0;
  let statusCalls = 0;
  const behaviourAt = (list: Behaviour[], index: number) =>
    list[Math.min(index, list.length - 1)] ?? status("COMPLETED");
  return startRig(({ url }) => {
    if (url === "/v2/ep/stream/job") return behaviourAt(streams, streamed++);
    return behaviourAt(statuses, statusCalls++);
  });
}

async function outputsOf({ clients, clock }: Rig): Promise<unknown[]> {
  const chunks: StreamChunk[] = [];
  const readStream = async () => {
    for await (const streamedChunk of clients.jobs.stream("ep", "job")) chunks.push(streamedChunk);
  };
  await runClock(clock, readStream());
  return chunks.map(({ output }) => output);
}

const paths = ({ requests }: Rig) => requests.map(({ url }) => url.split("/")[3]);

test("an envelope is read until its status is final", async () => {
  const rig = await serving([
    envelope("IN_QUEUE"),
    envelope("IN_PROGRESS", 1, 2),
    envelope("IN_PROGRESS"),
    envelope("COMPLETED", 3),
  ]);
  expect(await outputsOf(rig)).toEqual([1, 2, 3]);
  expect(paths(rig)).toEqual(["stream", "stream", "stream", "stream"]);
});

test.each(["FAILED", "CANCELLED", "TIMED_OUT"])("an envelope with the status %s ends the stream", async (final) => {
  const rig = await serving([envelope("IN_PROGRESS", 1), envelope(final)]);
  expect(await outputsOf(rig)).toEqual([1]);
});

test("a bare array is read until /status is final and no chunk is left", async () => {
  const rig = await serving(
    [array(), array(1, 2), array(), array(3), array(4), array()],
    [status("IN_QUEUE"), status("COMPLETED")],
  );
  expect(await outputsOf(rig)).toEqual([1, 2, 3, 4]);
  expect(paths(rig)).toEqual(["stream", "status", "stream", "stream", "status", "stream", "stream", "stream"]);
});

test("/status is not requested while chunks arrive", async () => {
  const rig = await serving([array(1), array(2), array(3), array()], [status("COMPLETED")]);
  expect(await outputsOf(rig)).toEqual([1, 2, 3]);
  expect(paths(rig).filter((path) => path === "status")).toHaveLength(1);
});

test("the pauses after empty responses grow to 2 s", async () => {
  const rig = await serving(
    [...Array<Behaviour>(8).fill(array()), array("late"), array()],
    [...Array<Behaviour>(8).fill(status("IN_PROGRESS")), status("COMPLETED")],
  );
  const start = rig.clock.now();
  expect(await outputsOf(rig)).toEqual(["late"]);
  expect(rig.clock.now() - start).toBeGreaterThanOrEqual(100 + 200 + 400 + 800 + 1600 + 2000);
});

test("null is a chunk", async () => {
  const rig = await serving([envelope("COMPLETED", null, "x", { deep: [1] })]);
  expect(await outputsOf(rig)).toEqual([null, "x", { deep: [1] }]);
});

test("a reader that stops early sends no more requests", async () => {
  const rig = await serving([array(1, 2, 3)]);
  for await (const { output } of rig.clients.jobs.stream("ep", "job")) {
    if (output === 2) break;
  }
  expect(rig.requests).toHaveLength(1);
});

test("an unknown job rejects as missing", async () => {
  const rig = await serving([json({ error: "not found" }, 404)]);
  expect(await apiErrorOf(rig.clients.jobs.stream("ep", "job").next())).toMatchObject({ category: "missing" });
});

test("an abort between polls ends the stream with the signal's reason", async () => {
  const rig = await serving([array()], [status("IN_PROGRESS")]);
  const controller = new AbortController();
  const reason = new Error("enough");
  const outcome = rig.clients.jobs
    .stream("ep", "job", { signal: controller.signal })
    .next()
    .catch((error: unknown) => error);
  await expect.poll(() => rig.clock.waiting).toBe(1);
  controller.abort(reason);
  expect(await outcome).toBe(reason);
});

test("invalid chunks reject as an unexpected response", async () => {
  const rig = await serving([json({ stream: "nothing" })]);
  expect(await apiErrorOf(rig.clients.jobs.stream("ep", "job").next())).toMatchObject({ code: "unexpected_answer" });
});
