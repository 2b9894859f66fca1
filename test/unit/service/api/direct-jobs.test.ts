import { afterAll, describe, expect, test } from "vitest";
import { image, useEngineService } from "../../../support/engine-service";
import { type Answer, expectAnswer, send, stringAt } from "../../../support/raw-http";
import { useJobRig } from "../jobs/support/job-rig";

const rig = await useEngineService({ rateLimits: "on" });
const key = rig.service.apiKey;

async function endpoint(handler: "echo" | "fail", workersMax: number): Promise<string> {
  const fields = { isServerless: true, volumeInGb: 0, containerDiskInGb: 5 };
  const name = `${handler}-${workersMax}`;
  const template = await rig.rest("POST", "/templates", { name, imageName: image(handler), ...fields });
  const made = await rig.rest("POST", "/endpoints", { name, templateId: idOf(template), workersMin: 0, workersMax });
  return idOf(made);
}
const idOf = (made: unknown): string => {
  if (typeof made === "object" && made !== null && "id" in made) return String(made.id);
  throw new Error("it has no id");
};
const echo = await endpoint("echo", 1);
const parked = await endpoint("fail", 0);
afterAll(() => rig.job("POST", parked, "/purge-queue"));

/** What may differ from one response to the next. */
const steady = ({ status, headers, text }: Answer): unknown => ({
  status,
  headers: Object.fromEntries([...headers].filter(([name]) => name !== "date" && name !== "content-length")),
  text: text
    .replace(/(?:sync-)?[0-9a-f]{8}-[0-9a-f-]{27}/g, "<job>")
    .replace(/"(delayTime|executionTime)":\d+/g, '"$1":0')
    .replace(/"workerId":"[^"]+"/g, '"workerId":"<worker>"')
    .replace(/\/(?=["\s])/g, ""),
});

interface Sent {
  path: string;
  key?: string;
  headers?: Record<string, string>;
  text?: string;
}
const call = ({ path, ...sending }: Sent): Promise<Answer> =>
  send(sending.text === undefined ? "GET" : "POST", `${rig.service.serverlessUrl}/v2/${path}`, { key, ...sending });
/** The same call past the framework, and through it: a slash at the end makes no difference to callers. */
async function both(sent: Sent): Promise<[direct: Answer, framework: Answer]> {
  return [await call(sent), await call({ ...sent, path: `${sent.path}/` })];
}

const body = '{"input":{"number":12345678901234567891}}';

describe("a job call has the same response past the framework as through it", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, number, Sent]>([
    ["/run", 200, { path: `${parked}/run`, text: body }],
    ["/runsync of a job that ends", 200, { path: `${echo}/runsync`, text: body }],
    ["a body of umlauts", 200, { path: `${echo}/runsync`, text: '{"input":{"text":"äöü\\u0000 \u{1f980}"}}' }],
    ["a wrong key", 401, { path: `${parked}/run`, text: body, key: "wrong" }],
    ["an endpoint that does not exist", 404, { path: "none/run", text: body }],
    ["a job that does not exist", 404, { path: `${parked}/status/none` }],
    ["a body that is not JSON", 400, { path: `${parked}/run`, text: "{input:" }],
    ["an empty body", 400, { path: `${parked}/runsync`, text: "", headers: json }],
    ["a body with an unknown policy", 400, { path: `${parked}/runsync`, text: '{"input":{},"policy":{"x":1}}' }],
    ["another content type", 400, { path: `${parked}/run`, text: body, headers: { "content-type": "text/html" } }],
    [
      "a charset",
      200,
      { path: `${parked}/run`, text: body, headers: { "content-type": "application/json; charset=utf-8" } },
    ],
    ["a body above the limit", 413, { path: `${parked}/run`, text: `{"input":{"a":"${"x".repeat(10_500_000)}"}}` }],
  ])("%s", async (_what, status, sent) => {
    const [direct, framework] = await both(sent);
    expectAnswer(direct, status);
    expect(steady(direct)).toEqual(steady(framework));
  });

  test("/status of a job in the queue and of one that is over", async () => {
    for (const [endpointId, path] of [
      [parked, "run"],
      [echo, "runsync"],
    ] as const) {
      const job = await call({ path: `${endpointId}/${path}`, text: body });
      const [direct, framework] = await both({ path: `${endpointId}/status/${stringAt(job, "id")}` });
      expectAnswer(direct, 200);
      expect(steady(direct)).toEqual(steady(framework));
    }
  });
});

test("calls past the framework count as requests", async () => {
  const before = rig.service.requestCount();
  await call({ path: `${parked}/run`, text: body });
  expect(rig.service.requestCount()).toBe(before + 1);
});

test("the listener of workers takes no calls of users, neither past the framework nor through it", async () => {
  const own = await useJobRig();
  const { id } = await own.endpoint("none", { workersMax: 0 });
  const port = await own.listenForWorkers("127.0.0.1");
  const to = (path: string, text?: string) =>
    send(text === undefined ? "GET" : "POST", `http://127.0.0.1:${port}/v2/${id}/${path}`, {
      key: "a-key-for-this-test-only",
      ...(text === undefined ? {} : { text }),
    });
  const answers = [await to("run", body), await to("run/", body), await to("status/none"), await to("health")];
  expect(answers.map(({ status, text }) => [status, text.includes("route ")])).toEqual(Array(4).fill([404, true]));
});
