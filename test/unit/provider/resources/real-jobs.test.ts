import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { kinds } from "../../../../provider/resources";
import { acceleratedClock } from "../../../support/accelerated-clock";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { at, send } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";

const handlers = ["echo", "fail", "slow"] as const;
const images = Object.fromEntries(handlers.map((name) => [`acme/${name}:1`, handlerFile(name)]));
const bench = await useLifecycleBench({ images });
const { JobInvoke } = kinds;

/** Endpoints that run each handler on a real worker. */
const endpoints = new Map<string, string>();
for (const name of handlers) {
  const template = { name, imageName: `acme/${name}:1`, isServerless: true };
  const templateId = await bench.create("/templates", template);
  endpoints.set(name, await bench.create("/endpoints", { name, templateId, workersMax: 1 }));
}

const inputsOf = (handler: string, news: Properties): Properties =>
  JobInvoke.check({}, { endpointId: endpoints.get(handler) ?? "", input: {}, ...news }, naming()).inputs;
const realTime = () => bench.context({ clock: systemClock });

/** The job's status, read without the proxy and without our client. */
async function statusOf(handler: string, jobId: string): Promise<unknown> {
  const { serverlessUrl, apiKey } = bench.addresses;
  const response = await send("GET", `${serverlessUrl}/v2/${endpoints.get(handler)}/status/${jobId}`, { key: apiKey });
  return at(response.json, "status");
}

test("a job that no worker can run fails with the missing requirement", async () => {
  const template = { name: "none", imageName: "acme/none:1", isServerless: true };
  const templateId = await bench.create("/templates", template);
  const endpointId = await bench.create("/endpoints", { name: "none", templateId, workersMax: 1 });
  const context = bench.context({ clock: acceleratedClock(10) });
  const failure = await JobInvoke.create(inputsOf("echo", { endpointId, timeout: 10 }), context).catch(String);
  expect(failure).toMatch(
    /was still IN_QUEUE after \d+ s; it was cancelled\nendpoint: jobs 0 in queue, .* [01] throttled\nthe image[\s\S]*start the service with --image acme\/none:1=COMMAND/,
  );
  expect(context.progressMessages.at(-1)).toContain('the image "acme/none:1" has no command');
});

test.each(["async", "sync"])("a cancelled deployment cancels its running job, %s", async (mode) => {
  const stop = new AbortController();
  const context = { ...realTime(), signal: stop.signal };
  const running = JobInvoke.create(inputsOf("slow", { mode, input: { ms: 600_000 } }), context);
  let jobId = "";
  const started = new Promise<void>((resolve) => {
    context.progress = (text) => {
      jobId = text.split(" ")[1] ?? "";
      resolve();
    };
  });
  if (mode === "async") await started;
  const reason = new Error("stopped by the user");
  stop.abort(reason);
  await expect(running).rejects.toBe(reason);
  const health = `${bench.addresses.serverlessUrl}/v2/${endpoints.get("slow")}/health`;
  const response = await send("GET", health, { key: bench.addresses.apiKey });
  expect(at(response.json, "jobs")).toMatchObject({ inQueue: 0, inProgress: 0 });
  if (mode === "async") expect(await statusOf("slow", jobId)).toBe("CANCELLED");
});

describe("from a script", () => {
  const settings = { clients: bench.addresses };

  test("invalid arguments are rejected before any request", async () => {
    await expect(invokeJob({ endpointId: "", input: {}, timeout: 0 }, { settings })).rejects.toThrow(
      'endpointId: is ""; must be the id of an object\ntimeout: is 0; must be a whole number from 1 to 604800',
    );
    expect(bench.drainRequests()).toEqual([]);
  });

  test("a wrong key is reported with the endpoint and the service's address", async () => {
    const wrong = { clients: { ...bench.addresses, apiKey: "sck-wrong" } };
    await expect(
      invokeJob({ endpointId: endpoints.get("echo") ?? "", input: {} }, { settings: wrong }),
    ).rejects.toThrow(/^job on endpoint "\w+": http:\/\/127\.0\.0\.1:\d+ rejected the API key/);
  });

  test("a job returns its outcome and reports its progress", async () => {
    const reported: string[] = [];
    const outcome = await invokeJob(
      { endpointId: endpoints.get("echo") ?? "", input: { text: "pong" }, expect: { output: { text: "pong" } } },
      { settings, onProgress: (text) => void reported.push(text) },
    );
    expect(outcome).toMatchObject({ status: "COMPLETED", output: { text: "pong" } });
    expect(reported[0]).toBe(`job ${outcome.jobId} IN_QUEUE: 0 s of at most 300 s`);
  });
});
