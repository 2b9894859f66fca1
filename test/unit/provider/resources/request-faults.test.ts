import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { checkOf, type FaultClient, type FaultRow, faultTable } from "../../../support/fault-table";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { expectAnswer, send } from "../../../support/raw-http";
import { rushedClock } from "../../../support/rushed-clock";

const server = fileURLToPath(new URL("../../../support/handlers/http-server.mjs", import.meta.url));
const bench = await useLifecycleBench({ images: { "acme/server": server }, clock: systemClock });
const { JobInvoke, ServerlessEndpoint, Template } = kinds;
const context = () => bench.context({ clock: rushedClock }, "v2");
let names = 0;

async function templateOf(imageName: string): Promise<string> {
  const { inputs } = Template.check({}, { imageName }, naming(`server-${++names}`), [], "v2");
  return (await Template.create(inputs, context())).id;
}

/** Inputs of a load balancer. */
function inputsOf(name: string, templateId: string, more: Properties = {}): Properties {
  const scaling = { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 4, workersMax: 1 };
  const { inputs, failures } = ServerlessEndpoint.check(
    {},
    { templateId, ...scaling, ...more },
    naming(name),
    [],
    "v2",
  );
  expect(failures).toEqual([]);
  return inputs;
}

/** Injects the faults of a row, and returns the text that a verb ends with. */
async function underFaults(endpointId: string, { faults }: FaultRow, verb: () => Promise<string>) {
  const { serverlessUrl, apiKey: key } = bench.addresses;
  const path = `${serverlessUrl}/local/endpoints/${endpointId}/faults`;
  expectAnswer(await send("PUT", path, { key, json: faults }), 200);
  const text = await verb().catch(String);
  const { json } = await send("GET", path, { key });
  for (const [name, left] of Object.entries(Object(json)))
    if (typeof left === "number" && name !== "delay") expect(left, `${name} left`).toBe(0);
  expectAnswer(await send("PUT", path, { key, json: {} }), 200);
  return text;
}

const titled = (client: FaultClient): [string, FaultRow][] =>
  faultTable(client).map((row) => [`under ${row.fault} ${row.behaviour}`, row]);

describe("the request of a JobInvoke", () => {
  const checks = {
    succeeds: /^COMPLETED$/,
    "sends the request again, succeeds": /^COMPLETED$/,
    "fails with the response":
      /^JobFailure: GET \/a .* returned 500, expected 200\nresponse: .*injected fault: internal/,
    "fails, not sent again": /^JobFailure: GET \/a .* received no response: /,
    "fails with the crash": /^JobFailure: GET \/a .* returned 502, expected 200\nresponse: .*do not start/,
    "fails at `timeout`": /^JobFailure: GET \/a .* received no response: no response within [\d.]+ s/,
  };

  test.each(titled("`JobInvoke.request`"))("%s", async (_title, row) => {
    const expected = checkOf(checks, row.behaviour);
    const inputs = inputsOf(`invoked-${++names}`, await templateOf("acme/server:1"));
    const { id: endpointId } = await ServerlessEndpoint.create(inputs, context());
    const timeout = row.behaviour.includes("timeout") ? 1 : 300;
    const news = JobInvoke.check({}, { endpointId, request: { path: "/a" }, timeout }, naming()).inputs;
    const text = await underFaults(endpointId, row, async () =>
      String((await JobInvoke.create(news, context())).outputs["status"]),
    );
    expect(text).toMatch(expected);
  });
});

describe("the request of a verification", () => {
  const rolledBack = (reason: string) =>
    new RegExp(
      `^PartialFailure: acme/server:2 \\(version 2\\) failed its .*; acme/server:1 \\(version 1\\) keeps .*\\n${reason}`,
    );
  const checks = {
    succeeds: /^version 2$/,
    "sends the request again, succeeds": /^version 2$/,
    "rolls back with the response, if no worker of the old version is up": rolledBack(
      "GET /check .* returned 500, expected 200\nresponse: .*injected fault",
    ),
    // A slow machine reaches the deadline before it sends the request.
    "rolls back at `verify.timeout`": rolledBack(
      "(GET /check .* received no response: no response within|no worker of the new version was ready for the request within)",
    ),
  };

  test.each(titled("`verify.request`"))("%s", async (_title, row) => {
    const expected = checkOf(checks, row.behaviour);
    const name = `verified-${++names}`;
    const verify = { request: { path: "/check" }, timeout: 300 };
    const first = inputsOf(name, await templateOf("acme/server:1"), { verify });
    const { id, outputs } = await ServerlessEndpoint.create(first, context());
    const timeout = row.behaviour.includes("timeout") ? 5 : 300;
    const news = inputsOf(name, await templateOf("acme/server:2"), { verify: { ...verify, timeout } });
    const text = await underFaults(
      id,
      row,
      async () => `version ${(await ServerlessEndpoint.update(id, outputs, news, context()))["version"]}`,
    );
    expect(text).toMatch(expected);
    const serving = await ServerlessEndpoint.read(id, outputs, context());
    expect(serving?.outputs["templateId"]).toBe((text === "version 2" ? news : first)["templateId"]);
  });
});
