import { systemClock } from "serverless-compute-api";
import { expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { handlerFile, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { expectAnswer, send, stringAt } from "../../../support/raw-http";

const bench = await useLifecycleBench({ images: { "acme/echo:1": handlerFile("echo") } });
const template = { name: "echo", imageName: "acme/echo:1", isServerless: true };
const templateId = stringAt(await bench.rest("POST", "/templates", template), "id");
let names = 0;

/** Runs a JobInvoke on a new endpoint with these faults; returns its status or the error's text. */
async function invoke(mode: string, faults: object, timeout: number): Promise<string> {
  const endpoint = { name: `echo-${++names}`, templateId, workersMax: 1 };
  const endpointId = stringAt(await bench.rest("POST", "/endpoints", endpoint), "id");
  const { serverlessUrl, apiKey: key } = bench.addresses;
  const path = `${serverlessUrl}/local/endpoints/${endpointId}/faults`;
  expectAnswer(await send("PUT", path, { key, json: faults }), 200);
  const input = { prompt: "ping" };
  const news = { endpointId, mode, input, timeout, expect: { output: input } };
  const { inputs } = kinds.JobInvoke.check({}, news, naming());
  const result = kinds.JobInvoke.create(inputs, bench.context({ clock: systemClock }));
  return result.then(({ outputs }) => String(outputs["status"]), String);
}

const lost =
  /^JobFailure: the response to the job's submission on endpoint "\w+" was lost .*\nIt may or may not be running/;
const failed = (why: string) => new RegExp(`^JobFailure: job \\S+ on endpoint "\\w+" ended FAILED.*\\nerror: ${why}`);

test.each([
  [{ delay: 100 }, /^COMPLETED$/],
  [{ tooManyRequests: 1 }, /^COMPLETED$/],
  [{ serverErrors: 1 }, lost],
  [{ dropResponses: 1 }, lost],
  [{ failJobs: 1 }, failed("injected fault: the job fails")],
  [{ crashJobs: 1 }, /^COMPLETED$/],
  [{ crashJobs: 3 }, failed(".*SIGKILL")],
  [{ workers: "crash" }, failed("[^]*injected fault: the worker crashes")],
])("under the fault %j a JobInvoke ends with %s, in both modes", async (faults, expected) => {
  const results = await Promise.all(["async", "sync"].map((mode) => invoke(mode, faults, 60)));
  for (const result of results) expect(result).toMatch(expected);
});

test.each([
  [{ workers: "hang" }, /was still IN_QUEUE after 1 s; it was cancelled\nendpoint: .* 1 starting/],
  [{ noStock: true }, /was still IN_QUEUE after 1 s; it was cancelled\nendpoint: .* 1 throttled/],
])("under the fault %j a JobInvoke is cancelled at its timeout and reports %s", async (faults, expected) => {
  expect(await invoke("async", faults, 1)).toMatch(expected);
});
