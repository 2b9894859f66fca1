import { type Clock, type Dialect, systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { acceleratedClock } from "../../../support/accelerated-clock";
import { runConcurrently } from "../../../support/concurrent-rows";
import { checkOf, expectNoneLeft, type FaultRow, faultTable } from "../../../support/fault-table";
import { type BenchContext, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { at, expectResponse, send } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";

const echo = handlerFile("echo");
const bench = await useLifecycleBench({ images: { "acme/echo:1": echo, "acme/echo:2": echo }, rateLimits: "off" });
const { serverlessUrl, apiKey: key } = bench.addresses;
let names = 0;

const faultsPath = (endpointId: string): string => `${serverlessUrl}/local/endpoints/${endpointId}/faults`;

/** Replaces the faults of an endpoint. */
const inject = async (endpointId: string, faults: object): Promise<void> =>
  expectResponse(await send("PUT", faultsPath(endpointId), { key, json: faults }), 200);

/** Numbers of an endpoint's jobs so far, and of the submissions sent to it. */
async function counts(endpointId: string): Promise<{ jobs: number; submissions: number }> {
  const jobs = at((await send("GET", `${serverlessUrl}/v2/${endpointId}/requests`, { key })).json, "requests");
  if (!Array.isArray(jobs)) throw new Error(`no jobs of ${endpointId}`);
  const submissions = bench.proxy.requests.filter(({ path }) => path.startsWith(`/v2/${endpointId}/run`));
  return { jobs: jobs.length, submissions: submissions.length };
}

/** Result or error of a verb, and the numbers of jobs and submissions that it caused. */
interface Outcome {
  text: string;
  jobs: number;
  submissions: number;
}

/** Runs a verb while the faults of a row are injected. */
async function underFaults(
  endpointId: string,
  row: FaultRow,
  clock: Clock,
  restVersion: Dialect,
  verb: (context: BenchContext) => Promise<string>,
): Promise<Outcome> {
  const before = await counts(endpointId);
  const { faults, afterSubmission } = row;
  let injected = afterSubmission ? undefined : inject(endpointId, faults);
  await injected;
  const context = bench.context(
    {
      // The first request to /status is sent after a wait, which lasts until the faults are injected.
      progress: (text) => {
        if (/job \S+ IN_/.test(text)) injected ??= inject(endpointId, faults);
      },
      clock: {
        now: () => clock.now(),
        sleep: async (ms, signal) => {
          await injected;
          await clock.sleep(ms, signal);
        },
      },
    },
    restVersion,
  );
  const text = await verb(context).catch(String);
  expectNoneLeft(row, (await send("GET", faultsPath(endpointId), { key })).json);
  await inject(endpointId, {});
  const after = await counts(endpointId);
  return { text, jobs: after.jobs - before.jobs, submissions: after.submissions - before.submissions };
}

/** Creates a template with a unique name. */
async function templateOf(imageName: string, restVersion: Dialect): Promise<string> {
  const { inputs } = kinds.Template.check({}, { imageName }, naming(`echo-${++names}`), [], restVersion);
  return (await kinds.Template.create(inputs, bench.context({}, restVersion))).id;
}
const templateId = await templateOf("acme/echo:1", "v1");

const namedRows = (rows: FaultRow[]): [string, FaultRow][] =>
  rows.map((row) => [`under ${row.fault} ${row.behaviour}`, row]);

describe.each(["async", "sync"])("a JobInvoke with the mode %s", (mode) => {
  const lost = /^UserError: the response to the job's submission on endpoint "\w+" was lost .*\nIt may or may not be/;
  const failed = (error: string) =>
    new RegExp(`^UserError: job \\S+ on endpoint "\\w+" ended FAILED.*\\nerror: [^]*${error}`);
  const cancelled = /was still IN_QUEUE after \d+ s; it was cancelled\nendpoint: /;
  const checks = {
    succeeds: { text: /^COMPLETED$/, submissions: 1, jobs: 1 },
    "sends the request again, succeeds": { text: /^COMPLETED$/, jobs: 1 },
    "fails, not sent again": { text: lost, submissions: 1, jobs: 0 },
    "fails, not sent again; the job runs": { text: lost, submissions: 1, jobs: 1 },
    "fails with the job's error": { text: failed("injected fault: the job fails"), submissions: 1, jobs: 1 },
    "fails with the crash": { text: failed("(.*SIGKILL|injected fault: the worker crashes)"), submissions: 1, jobs: 1 },
    "cancels the job at `timeout`, fails": { text: cancelled, submissions: 1, jobs: 1 },
  };
  // A /runsync that returns a finished job is not followed by a request to /status.
  const rows = faultTable("`JobInvoke`").filter(({ afterSubmission }) => mode === "async" || !afterSubmission);

  const outcomeOf = runConcurrently(rows, async (row) => {
    const endpoint = { name: `echo-${++names}`, templateId, workersMax: 1 };
    const endpointId = await bench.create("/endpoints", endpoint);
    const input = { prompt: "ping" };
    const timeout = row.behaviour.startsWith("cancels") ? 3 : 60;
    const { inputs } = kinds.JobInvoke.check(
      {},
      { endpointId, mode, input, timeout, expect: { output: input } },
      naming(),
    );
    return underFaults(endpointId, row, systemClock, "v1", async (context) =>
      String((await kinds.JobInvoke.create(inputs, context)).outputs["status"]),
    );
  });

  test.each(namedRows(rows))("%s", async (_title, row) => {
    const { text, ...numbers } = checkOf(checks, row.behaviour);
    const outcome = await outcomeOf(row);
    expect(outcome.text).toMatch(text);
    expect(outcome).toMatchObject(numbers);
  });
});

// With REST v1 in full runs: only requests to the management API differ, and they have no faults.
const dialects: Dialect[] = process.env["FULL"] ? ["v1", "v2"] : ["v2"];

describe.each(dialects)("a rollout of a VerifiedEndpoint with REST %s", (restVersion) => {
  const rolledBack = (reason: string) =>
    new RegExp(
      `^ResourceInitError: acme/echo:2 \\(version 2\\) failed its verification; acme/echo:1 \\(version 1\\) keeps serving[^]*\\n${reason}`,
    );
  // A slow machine reaches the deadline before it submits the job, a fast machine crashes the last worker before the deadline.
  const waited = (reason: string) =>
    rolledBack(`(job \\S+ .* (was still IN_QUEUE|ended FAILED)|no worker of the new version started)[^]*${reason}`);
  const checks = {
    succeeds: { text: /^version 2$/, submissions: 1, jobs: 1 },
    "sends the request again, succeeds": { text: /^version 2$/, jobs: 1 },
    "submits the job again, succeeds": { text: /^version 2$/, submissions: 2, jobs: 1 },
    "submits the job again, succeeds; both jobs run": { text: /^version 2$/, submissions: 2, jobs: 2 },
    "rolls back with the job's error": { text: rolledBack("job .*\\nerror: injected fault: the job fails"), jobs: 1 },
    "rolls back with the crash": { text: rolledBack("job .*\\nerror: .*SIGKILL"), jobs: 1 },
    "rolls back at `verify.timeout` with the crash": { text: waited("injected fault: the worker crashes") },
    "rolls back at `verify.timeout`": { text: waited("endpoint: ") },
  };

  const inputsOf = (name: string, templateId: string, verify: object): Properties => {
    const job = { input: { text: "ping" }, expect: { output: { text: "ping" } }, timeout: 600 };
    const news = { templateId, workersMax: 1, verify: { ...job, ...verify } };
    const { inputs, failures } = kinds.ServerlessEndpoint.check({}, news, naming(name), [], restVersion);
    expect(failures).toEqual([]);
    return inputs;
  };
  /** Rolls out a new template under faults. */
  async function rollOut(row: FaultRow, verify: object): Promise<Outcome> {
    const name = `echo-${++names}`;
    const first = inputsOf(name, await templateOf("acme/echo:1", restVersion), {});
    const news = inputsOf(name, await templateOf("acme/echo:2", restVersion), verify);
    const { id, outputs } = await kinds.ServerlessEndpoint.create(
      first,
      bench.context({ clock: acceleratedClock(10) }, restVersion),
    );
    const outcome = await underFaults(
      id,
      row,
      acceleratedClock(10),
      restVersion,
      async (context) => `version ${(await kinds.ServerlessEndpoint.update(id, outputs, news, context))["version"]}`,
    );
    const serving = await kinds.ServerlessEndpoint.read(id, outputs, bench.context({}, restVersion));
    expect(serving?.outputs["templateId"]).toBe((outcome.text === "version 2" ? news : first)["templateId"]);
    return outcome;
  }

  const rows = faultTable("`VerifiedEndpoint`");
  const repeated: FaultRow[] = [{ failJobs: 1 }, { crashJobs: 3 }].map((faults) => ({
    fault: JSON.stringify(faults),
    faults,
    afterSubmission: false,
    behaviour: "with attempts: 2 runs another job and succeeds",
  }));
  const outcomeOf = runConcurrently([...rows, ...repeated], (row) => {
    if (repeated.includes(row)) return rollOut(row, { attempts: 2 });
    return rollOut(row, row.behaviour.includes("verify.timeout") ? { timeout: 60 } : {});
  });

  test.each(namedRows(rows))("%s", async (_title, row) => {
    const { text, ...numbers } = checkOf(checks, row.behaviour);
    const outcome = await outcomeOf(row);
    expect(outcome.text).toMatch(text);
    expect(outcome).toMatchObject(numbers);
  });

  test.each(namedRows(repeated))("%s", async (_title, row) => {
    expect(await outcomeOf(row)).toEqual({ text: "version 2", submissions: 2, jobs: 2 });
  });
});
