import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Dialect } from "serverless-compute-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DriftFlags, drift } from "../../../../provider/cli/drift/drift";
import type { Properties } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { expectResponse, send, stringAt } from "../../../support/raw-http";
import { environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const folder = scratchFolder(afterAll);

interface CreatedObject {
  kind: "Template" | "ServerlessEndpoint";
  name: string;
  id: string;
  outputs: Properties;
}

let count = 0;
async function createObject(
  kind: CreatedObject["kind"],
  name: string,
  input: Properties,
  dialect: Dialect = "v2",
): Promise<CreatedObject> {
  const { inputs } = kinds[kind].check({}, input, naming(`${name}-${++count}`));
  return { kind, name, ...(await kinds[kind].create(inputs, bench.context({}, dialect))) };
}
const template = (input: Properties = {}, dialect?: Dialect): Promise<CreatedObject> =>
  createObject("Template", "worker", { imageName: "acme/echo:1", env: { MODE: "slow" }, ...input }, dialect);
const endpoint = (template: CreatedObject, dialect?: Dialect): Promise<CreatedObject> =>
  createObject("ServerlessEndpoint", "chat", { templateId: template.id, workersMax: 0, scalerValue: 4 }, dialect);

/** Changes an object outside Pulumi. */
async function patch(path: string, json: object): Promise<void> {
  const { apiKey } = bench.addresses;
  expectResponse(await send("PATCH", `${bench.proxy.origin}/v2/${path}`, { key: apiKey, json }), 200);
}

/** The report of a refresh of these resources, and the requests for it. */
async function report(
  objects: CreatedObject[],
  format: DriftFlags["format"] = "text",
  variables: NodeJS.ProcessEnv = {},
) {
  const steps = [];
  for (const { kind, name, id, outputs } of objects) {
    const reading = await kinds[kind].read(id, outputs, bench.context({}, "v2"));
    const { url: _u, version: _v, revision: _r, ...inputs } = outputs;
    const isSame = isDeepStrictEqual(inputs, reading?.inputs);
    steps.push({
      op: isSame ? "refresh" : "update",
      urn: `urn:pulumi:dev::shop::serverless-compute:index:${kind}::${name}`,
      provider: "p::1",
      oldState: { id, inputs },
      newState: { id, inputs: reading?.inputs },
    });
  }
  const file = join(folder, "refresh.json");
  await writeFile(file, JSON.stringify({ steps }));
  const { io, printed } = recordingTerminal();
  bench.drainRequests();
  const code = await drift({ file, format }, io, { ...environmentOf(bench), ...variables });
  return { code, ...printed(), requests: bench.drainRequests() };
}

const isoTime = (): string => new Date(bench.clock.now()).toISOString();

describe("an endpoint whose image was changed outside Pulumi", () => {
  let objects: CreatedObject[];
  let id: string;
  let time: string;
  beforeAll(async () => {
    const worker = await template();
    const chat = await endpoint(worker);
    ({ id } = chat);
    objects = [worker, chat];
    await bench.clock.advance(60_000);
    await patch(`serverless/${id}`, { image: "acme/echo:9" });
    const { apiKey } = bench.addresses;
    const releases = await send("GET", `${bench.proxy.origin}/v2/serverless/${id}/releases`, { key: apiKey });
    time = stringAt(releases, "releases", 0, "createdAt");
  });

  test("text: names the release and its time, and reads them with one request", async () => {
    const { code, out, err, requests } = await report(objects);
    expect({ code, err, requests }).toEqual({ code: 3, err: "", requests: [`GET /v2/serverless/${id}/releases`] });
    expect(out.split("\n")).toContain(`  imageName: not set → "acme/echo:9"; release 2 (${id}-2) of chat, ${time}`);
  });

  test("markdown: shows the release beside the values", async () => {
    const { out } = await report(objects, "markdown");
    expect(out).toContain(`| \`imageName\` | not set → \`"acme/echo:9"\`; release 2 (${id}-2) of chat, ${time} |`);
  });

  test("junit: contains the release in the failure", async () => {
    const { out } = await report(objects, "junit");
    expect(out).toContain(`; release 2 (${id}-2) of chat, ${time}</failure>`);
  });

  test("json: contains the endpoint, id, version and time of the release", async () => {
    const { drifted } = JSON.parse((await report(objects, "json")).out);
    expect(drifted[0].properties).toMatchObject([
      { property: "imageName", release: { endpoint: "chat", id: `${id}-2`, version: 2, createdAt: time } },
    ]);
  });

  test("REST v1: sends no request and names no release", async () => {
    const { out, err, requests } = await report(objects, "text", { SERVERLESS_COMPUTE_DIALECT: "v1" });
    expect({ err, requests }).toEqual({ err: "", requests: [] });
    expect(out).not.toContain("release");
  });

  test("without a key, or with a wrong one, prints the report and the reason on stderr", async () => {
    const missing = await report(objects, "text", { SERVERLESS_COMPUTE_API_KEY: "" });
    expect(missing).toMatchObject({ code: 3, requests: [], out: expect.not.stringContaining("release 2") });
    expect(missing.err).toContain("set SERVERLESS_COMPUTE_API_KEY");
    const wrong = await report(objects, "text", { SERVERLESS_COMPUTE_API_KEY: "wrong-key" });
    expect(wrong).toMatchObject({ code: 3, out: expect.not.stringContaining("release 2") });
    expect(wrong.err).toContain("The report contains no releases: ");
    expect(wrong.err).not.toContain("wrong-key");
  });
});

test("a later release that did not cause the drift is not named", async () => {
  const worker = await template();
  const chat = await endpoint(worker);
  await patch(`serverless/${chat.id}`, { image: "acme/echo:9" });
  // Sets a different disk, then the template's disk again.
  await patch(`serverless/${chat.id}`, { disk: 60 });
  await patch(`serverless/${chat.id}`, { disk: 50 });
  expect((await report([worker, chat])).out).toContain(`release 2 (${chat.id}-2) of chat`);
});

test("an additional variable of an endpoint is reported with the release that added it", async () => {
  const worker = await template();
  const chat = await endpoint(worker);
  await patch(`serverless/${chat.id}`, {
    env: { MODE: "slow", SERVERLESS_COMPUTE_TEMPLATE_ID: worker.id, TOKEN: "1" },
  });
  expect((await report([worker, chat])).out).toContain(`release 2 (${chat.id}-2) of chat`);
});

test("a changed template whose endpoints keep their copies is reported without a release", async () => {
  const worker = await template();
  const chat = await endpoint(worker);
  await patch(`templates/${worker.id}`, { image: "acme/echo:9", env: { MODE: "fast" } });
  const { out, requests } = await report([worker, chat]);
  expect(out).toContain('imageName: "acme/echo:1" → "acme/echo:9"');
  expect(out).not.toContain("release");
  expect(requests).toEqual([`GET /v2/serverless/${chat.id}/releases`]);
});

test.each([
  ["the disk", { disk: 30 }, "containerDiskInGb"],
  ["the image and a variable", { image: "acme/echo:9", env: { MODE: "fast" } }, "env, imageName"],
  ["an additional variable", { env: { MODE: "slow", EXTRA: "1" } }, "env"],
])(
  "an endpoint that keeps its copy of a template with a changed %s is reported by one line",
  async (_, change, names) => {
    const worker = await template({ containerDiskInGb: 20 });
    const chat = await endpoint(worker);
    await patch(`templates/${worker.id}`, change);
    const { out } = await report([worker, chat]);
    expect(
      out
        .split("\n\n")
        .find((text) => text.startsWith("ServerlessEndpoint"))
        ?.split("\n"),
    ).toEqual([
      'ServerlessEndpoint "chat"',
      `  warning: ${names} did not change: the endpoint keeps the previous settings of template "worker"`,
    ]);
  },
);

describe("a template with a bound endpoint", () => {
  test("is reported with the release of each property that releases describe, but not of values of variables", async () => {
    const worker = await template({ containerDiskInGb: 10, dockerStartCmd: ["a"], ports: "80/http, 22/tcp" }, "v1");
    const chat = await endpoint(worker, "v1");
    await bench.clock.advance(60_000);
    await patch(`templates/${worker.id}`, { image: "acme/echo:7", disk: 20, cmd: ["b"], ports: ["80/http"] });
    await patch(`templates/${worker.id}`, { env: { MODE: "fast", EXTRA: "1" } });
    await patch(`templates/${worker.id}`, { image: "acme/echo:9" });
    const { out } = await report([worker, chat], "json");
    const { drifted } = JSON.parse(out);
    const released = drifted
      .find(({ type }: { type: string }) => type === "Template")
      .properties.map(({ property, release }: { property: string; release?: { version: number } }) => [
        property,
        release?.version,
      ]);
    expect(Object.fromEntries(released)).toEqual({
      imageName: 4,
      containerDiskInGb: 2,
      dockerStartCmd: 2,
      ports: 2,
      "env.EXTRA": 3,
      "env.MODE": undefined,
    });
  });

  test("is reported without a release if no release set the current value", async () => {
    const worker = await template({}, "v1");
    const chat = await endpoint(worker, "v1");
    bench.proxy.alter({ path: /releases$/ }, (response) => ({
      ...Object(response),
      releases: [
        {
          id: "r-3",
          createdAt: isoTime(),
          diff: [{ field: "template.imageName", old: "acme/echo:9", new: "acme/echo:10" }],
        },
        {
          id: "r-2",
          createdAt: isoTime(),
          diff: [{ field: "template.imageName", old: "acme/echo:1", new: "acme/echo:9" }],
        },
      ],
    }));
    await patch(`templates/${worker.id}`, { image: "acme/echo:9" });
    expect((await report([worker, chat])).out).not.toContain("release");
  });
});

test("an endpoint's properties are reported with releases of documented fields; a release may lack a version", async () => {
  const worker = await template();
  const chat = await endpoint(worker);
  await patch(`serverless/${chat.id}`, { workers: { max: 3 }, scaling: { type: "QUEUE_DELAY", queueDelay: 9 } });
  bench.proxy.alter({ path: /releases$/ }, (response) => ({
    ...Object(response),
    releases: [{ id: "r-2", createdAt: "2026-11-20T10:00:00Z", diff: [{ field: "workers.max", old: 0, new: 3 }] }],
  }));
  const { out } = await report([worker, chat]);
  expect(out).toContain("workersMax: 0 → 3; release r-2 of chat, 2026-11-20T10:00:00Z");
  expect(out.match(/release/g)).toHaveLength(1);
});

test("sends no requests without drift that releases describe", async () => {
  const worker = await template();
  const chat = await endpoint(worker);
  await patch(`serverless/${chat.id}`, { scaling: { type: "QUEUE_DELAY", queueDelay: 9 } });
  const { code, requests } = await report([worker, chat]);
  expect({ code, requests }).toEqual({ code: 3, requests: [] });
});
