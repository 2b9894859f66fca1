import { expect, onTestFinished, test } from "vitest";
import { steadyClock } from "../../../../service/steady-clock";
import { createBalancer } from "../../../../service/workers/balancer";
import type { ProcessEnd } from "../../../../service/workers/runtimes/runtime";
import { serve } from "../../../support/loopback";
import { ManualClock } from "../../../support/manual-clock";
import { managedWorkers, runningProgram } from "./support/managed-worker";

const never = new AbortController().signal;

/** A balancer of the endpoint "e". Each worker has a server whose health checks return the status of `health`, by its id. */
async function useBalancer(problem?: string) {
  const pool = managedWorkers();
  const clock = new ManualClock();
  const health = new Map<string, number>();
  const timings = { healthInterval: 1000, requestWait: 60_000 };
  const balancer = createBalancer({ ...pool, clock: steadyClock(clock), timings, waitReason: () => problem });
  const origin = await serve(({ url = "" }, response) => response.writeHead(health.get(url.slice(1)) ?? 200).end());
  const port = Number(new URL(origin).port);
  /** Adds a worker, and waits for its first health check. */
  async function add(id: string, status = 200) {
    health.set(id, status);
    let end: (value: ProcessEnd) => void = () => undefined;
    const ended = new Promise<ProcessEnd>((resolve) => {
      end = resolve;
    });
    const found = Promise.resolve({ host: "127.0.0.1", port: 1, healthPort: port, healthPath: `/${id}` });
    const worker = pool.add(id, runningProgram({ server: found, ended }).process);
    await expect.poll(() => worker.stage === "ready" || worker.failedCheck !== undefined, { interval: 5 }).toBe(true);
    onTestFinished(() => end({ description: "ended", clean: true, lastErrors: [] }));
    return { worker, end: () => end({ description: "ended", clean: true, lastErrors: [] }) };
  }
  const lease = () => balancer.lease("e", never);
  /** Sets the status of a worker's next health checks, and waits for one. */
  async function becomes(id: string, status: number, isHealthy: boolean): Promise<void> {
    health.set(id, status);
    const isKnown = () => (pool.registry.find("e", id)?.unhealthyReason === undefined) === isHealthy;
    await expect
      .poll(async () => {
        await clock.advance(1000);
        return isKnown();
      })
      .toBe(true);
  }
  return { ...pool, balancer, clock, add, lease, becomes };
}

test("a request goes to the worker with the fewest requests, then to a current one", async () => {
  const { add, lease } = await useBalancer();
  const { worker } = await add("outdated");
  worker.becameOutdated();
  await add("current");
  const leases = [await lease(), await lease(), await lease()];
  expect(leases.map(({ workerId }) => workerId)).toEqual(["current", "outdated", "current"]);
  for (const { release } of leases.slice(1)) release(true);
  expect((await lease()).workerId).toBe("outdated");
});

test("a lease counts as a request until its release, and as a success if it was handled", async () => {
  const { add, lease, registry } = await useBalancer();
  const { worker } = await add("w");
  const succeeded: string[] = [];
  registry.events.on("succeeded", ({ id }) => succeeded.push(id));
  const [failed, handled] = [await lease(), await lease()];
  expect(worker.requests).toBe(2);
  failed.release(false);
  expect([worker.requests, succeeded]).toEqual([1, []]);
  for (const _ of ["once", "again"]) handled.release(true);
  expect([worker.requests, succeeded]).toEqual([0, ["w"]]);
});

test("an unhealthy, draining or ended worker gets no request; the waiting requests go to the next healthy worker", async () => {
  const { add, lease, becomes, balancer, changes } = await useBalancer();
  const [ended, draining] = [await add("ended"), await add("draining")];
  await add("unhealthy");
  await becomes("unhealthy", 500, false);
  draining.worker.drain();
  ended.end();
  await ended.worker.process.ended;
  const before = changes();
  const waiting = [lease(), lease()];
  expect(balancer.waiting("e")).toHaveLength(2);
  expect(changes()).toBe(before + 2);
  await becomes("unhealthy", 200, true);
  expect((await Promise.all(waiting)).map(({ workerId }) => workerId)).toEqual(["unhealthy", "unhealthy"]);
  expect(balancer.waiting("e")).toEqual([]);
});

test.each([
  [204, "returned 204"],
  [503, "returned 503"],
])("a health check that returns %i is not passed", async (status, text) => {
  const { add } = await useBalancer();
  const { worker } = await add("w", status);
  expect(worker.failedCheck).toMatch(new RegExp(`^GET /w on port \\d+ ${text}$`));
  expect(worker.stage).toBe("starting");
});

const notFound = { code: "missing", message: 'endpoint "e" not found' };
type Rig = Awaited<ReturnType<typeof useBalancer>>;

test.each<[string, string | undefined, (rig: Rig, client: AbortController) => unknown, object]>([
  ["in time", undefined, ({ clock }) => clock.advance(60_000), { message: "no workers available within 60 s" }],
  [
    "in time",
    "no stock",
    ({ clock }) => clock.advance(60_000),
    { message: "no workers available within 60 s: no stock" },
  ],
  [
    "before its client leaves",
    undefined,
    (_rig, client) => client.abort(),
    { message: "the client closed the connection" },
  ],
  ["before its endpoint is deleted", undefined, ({ balancer }) => balancer.rejectWaiting("e"), notFound],
  ["before the service stops", undefined, ({ balancer }) => balancer.close(0), { code: "stopping" }],
  [
    "because none starts",
    undefined,
    ({ balancer }) => balancer.waiting("e")[0]?.reject("no image"),
    { code: "badGateway", message: "no image" },
  ],
])("a request without a worker %s fails with the reason", async (_when, problem, cause, error) => {
  const rig = await useBalancer(problem);
  const client = new AbortController();
  const request = rig.balancer.lease("e", client.signal).catch((fault: unknown) => fault);
  await cause(rig, client);
  expect(await request).toMatchObject(error);
  expect(rig.balancer.waiting("e")).toEqual([]);
});

test("a stop waits for the leases, and no request gets a worker after it or after its client left", async () => {
  const { add, lease, balancer, clock } = await useBalancer();
  await add("w");
  await expect(balancer.lease("e", AbortSignal.abort())).rejects.toThrow("closed the connection");
  const [first, last] = [await lease(), await lease()];
  let isClosed = false;
  const closed = balancer.close(60_000).then(() => {
    isClosed = true;
  });
  await expect(lease()).rejects.toMatchObject({ code: "stopping" });
  first.release(true);
  await clock.advance(59_999);
  expect(isClosed).toBe(false);
  last.release(true);
  await closed;
  await balancer.close(60_000);
});
