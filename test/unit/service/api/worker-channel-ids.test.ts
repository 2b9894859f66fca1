import { readFileSync } from "node:fs";
import { limits } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { readWorkerToken } from "../../../../service/workers/tokens";
import { useSharedService } from "../../../support/local-service";
import { at, pollUntil } from "../../../support/raw-http";

// Under load, a body of 10 MB takes seconds, in which a silent worker must keep its job.
const silence = { pingSilence: 600_000, takeSilence: 600_000, stopGrace: 600_000 };
const rig = await useSharedService({ timings: { pollHold: 50, ...silence } });

/** A call of the worker channel. */
interface Call {
  method: "GET" | "POST";
  /** The path below the endpoint, with the ids of a worker and of a job. */
  path(worker: string, job: string): string;
  body?: object;
}

const get = (path: Call["path"]): Call => ({ method: "GET", path });
const done = (body: object): Call => ({ method: "POST", path: (worker, job) => `/job-done/${worker}/${job}`, body });
const chunk = (body: object): Call => ({ method: "POST", path: (worker, job) => `/job-stream/${worker}/${job}`, body });
const take = get((worker) => `/job-take/${worker}?job_in_progress=1`);
const stops = get((worker) => `/job-stop/${worker}`);

const calls: [string, Call][] = [
  ["take", take],
  ["take, without running jobs", get((worker) => `/job-take/${worker}?job_in_progress=0`)],
  ["take a batch", get((worker) => `/job-take-batch/${worker}?batch_size=9&job_in_progress=0`)],
  ["ping", get((worker, job) => `/ping/${worker}?job_id=${job}`)],
  ["unhealthy ping", get((worker, job) => `/ping/${worker}?job_id=${job}&status=unhealthy&reason=x`)],
  ["stops", stops],
  ["output", done({ output: "theirs" })],
  ["no output", done({})],
  ["output above the limit", done({ output: "x".repeat(limits.runPayload) })],
  ["error", done({ error: "theirs" })],
  ["cancelled start", done({ error: '{"event":"prestart_cancelled","error_type":"x","error_message":"x"}' })],
  ["output of a worker that ends", done({ output: "theirs", stopPod: true })],
  ["rejected output", done([1])],
  ["progress", done({ status: "IN_PROGRESS", output: "theirs" })],
  ["chunk", chunk({ output: "theirs" })],
  ["rejected chunk", chunk([1])],
];

/** An endpoint whose worker `worker-1` runs one job and must stop a cancelled job; another job is queued. */
async function openEndpoint() {
  const jobs = await rig.jobsOn("elsewhere", { workersMax: 0 });
  const token = readWorkerToken(rig.dataFolder, jobs.id) ?? "";
  const call = ({ method, path, body }: Call, worker: string, job: string, authorization = token) =>
    jobs.call(method, path(worker, job), body, { headers: { authorization } });
  const cancelled = await jobs.submit({});
  const running = await jobs.submit({});
  // A take that ends before the assignment is repeated.
  for (const _job of [cancelled, running])
    await pollUntil(
      () => call(take, "worker-1", ""),
      ({ status }) => status === 200,
    );
  await jobs.call("POST", `/cancel/${cancelled}`);
  const queued = await jobs.submit({});
  return {
    token,
    running,
    call,
    /** The jobs and workers as users see them. */
    async state() {
      const statuses: unknown[] = [];
      for (const id of [running, cancelled, queued]) {
        const { json } = await jobs.call("GET", `/status/${id}`);
        statuses.push([at(json, "status"), at(json, "output"), at(json, "error")]);
      }
      const { workers } = await jobs.health();
      return { statuses, workers };
    },
    /** Ends the running job with its worker; returns what the worker and users see. */
    async end() {
      const { json } = await call(stops, "worker-1", "");
      const isNamed = at(json, "jobsToStop", 0) === cancelled;
      await call(done({ output: "own" }), "worker-1", running);
      const { status, output } = await jobs.reaches(running);
      return { isNamed, status, output, stream: (await jobs.call("GET", `/stream/${running}`)).json };
    },
  };
}

/** The end of a job without calls of others. */
const ownEnd = { isNamed: true, status: "COMPLETED", output: "own", stream: [] };

test("the table contains every route of the worker channel", () => {
  const source = readFileSync(new URL("../../../../service/api/worker-channel.ts", import.meta.url), "utf8");
  const routes = [...source.matchAll(/app\.(\w+)<WorkerRoute>\([^/]*"\/:endpointId([^"]+)"/g)];
  const registered = routes.map(([, method = "", path]) => `${method.toUpperCase()} ${path}`);
  const tested = calls.map(([, { method, path }]) => `${method} ${path(":workerId", ":jobId").replace(/\?.*/, "")}`);
  expect(registered).not.toEqual([]);
  expect(new Set(tested)).toEqual(new Set(registered));
});

const another = await openEndpoint();

test.each(calls)("%s: neither another endpoint nor another worker changes a job by its id", async (_name, call) => {
  const mine = await openEndpoint();
  const before = await mine.state();
  for (const worker of ["worker-1", "worker-2"]) await another.call(call, worker, mine.running);
  expect(await mine.state()).toEqual(before);
  await mine.call(call, "worker-2", mine.running);
  expect(await mine.end()).toEqual(ownEnd);
});

test("every call rejects every token but the endpoint's, and changes nothing", async () => {
  const other = await openEndpoint();
  const before = await other.state();
  for (const [name, call] of calls) {
    for (const token of [
      another.token,
      `Bearer ${another.token}`,
      "",
      "Bearer ",
      `${other.token}x`,
      rig.service.apiKey,
    ])
      expect((await other.call(call, "worker-1", other.running, token)).status, name).toBe(401);
    expect(await other.state(), name).toEqual(before);
  }
  expect(await other.end()).toEqual(ownEnd);
});
