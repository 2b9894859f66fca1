import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { secretOutputs } from "../../provider/framework/properties/secret-paths";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, send } from "../support/raw-http";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { ServerlessEndpoint, Template } = kinds;
const context = () => bench.context({}, "v2");

/** Sends a request of another client of REST v2. */
const byHand = async (method: string, path: string, json?: object): Promise<Properties> => {
  const { apiKey } = bench.addresses;
  const url = `${bench.proxy.origin}/v2/${path}`;
  const response = await send(method, url, { key: apiKey, ...(json ? { json } : {}) });
  expectResponse(response, method === "POST" ? 201 : 200);
  return Object(response.json);
};
const containerOf = async (id: string) => {
  const { image, args, disk, env, ports, registry } = await byHand("GET", `serverless/${id}`);
  return { image, args, disk, env, ports, registry };
};

let count = 0;
/** An endpoint and its program, which later deployments change. */
async function deploy(program: Properties) {
  const name = `own-${count++}`;
  const check = (olds: Properties, news: Properties) => {
    const { inputs, failures } = ServerlessEndpoint.check(olds, { name, ...news }, naming(), [], "v2");
    expect(failures).toEqual([]);
    return inputs;
  };
  const created = await ServerlessEndpoint.create(check({}, program), context());
  const { id } = created;
  let { outputs } = created;
  return {
    id,
    outputs: () => outputs,
    /** Changes of a deployment. */
    changes: (news: Properties) =>
      ServerlessEndpoint.diff(outputs, check(outputs, news), "v2").map(({ path }) => path.join(".")),
    async up(news: Properties) {
      outputs = await ServerlessEndpoint.update(id, outputs, check(outputs, news), context());
    },
    async refresh() {
      const result = await ServerlessEndpoint.read(id, outputs, context());
      outputs = result?.outputs ?? {};
    },
  };
}

const template = async (more: Properties = {}) => {
  const news = {
    imageName: "acme/base:1",
    env: { MODEL: "small", TOKEN: "first" },
    dockerArgs: "--fast",
    ports: "80/http",
    ...more,
  };
  const { inputs } = Template.check({}, news, naming(`template-${count++}`), [], "v2");
  const { id, outputs } = await Template.create(inputs, context());
  return { id, update: (changes: Properties) => Template.update(id, outputs, { ...inputs, ...changes }, context()) };
};

describe("an endpoint with its own container", () => {
  test("is created with one request and the defaults of a template", async () => {
    bench.drainRequests();
    const { id, changes } = await deploy({ imageName: "acme/own:1", computeType: "CPU" });
    expect(bench.drainRequests().filter((request) => !request.startsWith("GET"))).toEqual(["POST /v2/serverless"]);
    expect(await containerOf(id)).toEqual({
      image: "acme/own:1",
      args: "",
      disk: 50,
      env: {},
      ports: [],
      registry: null,
    });
    expect(changes({ imageName: "acme/own:1", computeType: "CPU" })).toEqual([]);
  });

  test("sends only changed settings, restores defaults of removed ones, and detects drift for each variable", async () => {
    const program = { imageName: "acme/own:1", env: { A: "1", B: "2" }, dockerStartCmd: ["python", "a b.py"] };
    const endpoint = await deploy({ ...program, ports: "80/http" });
    await byHand("PATCH", `serverless/${endpoint.id}`, { disk: 70 });
    expect(endpoint.changes({ ...program, imageName: "acme/own:2" })).toEqual(["imageName", "ports"]);
    await endpoint.up({ ...program, imageName: "acme/own:2" });
    expect(await containerOf(endpoint.id)).toMatchObject({
      image: "acme/own:2",
      disk: 70,
      ports: [],
      env: program.env,
    });

    await byHand("PATCH", `serverless/${endpoint.id}`, { env: { A: "other", C: "3" } });
    await endpoint.refresh();
    expect(endpoint.changes({ ...program, imageName: "acme/own:2" }).sort()).toEqual(["env.A", "env.B", "env.C"]);
    await endpoint.up({ ...program, imageName: "acme/own:2" });
    expect(await containerOf(endpoint.id)).toMatchObject({ env: program.env });

    expect(endpoint.changes({ imageName: "acme/own:2" })).toEqual(["env", "dockerStartCmd"]);
    await endpoint.up({ imageName: "acme/own:2" });
    expect(await containerOf(endpoint.id)).toMatchObject({ args: "", env: {} });
    await endpoint.refresh();
    expect(endpoint.changes({ imageName: "acme/own:2" })).toEqual([]);
  });

  test("becomes that of a template and back again, without settings of the former", async () => {
    const { id: templateId } = await template();
    const endpoint = await deploy({ imageName: "acme/own:1", env: { OWN: "1" }, containerDiskInGb: 7 });
    expect(endpoint.changes({ templateId })).toEqual(["templateId", "imageName", "containerDiskInGb", "env"]);
    await endpoint.up({ templateId });
    expect(await containerOf(endpoint.id)).toMatchObject({ image: "acme/base:1", args: "--fast", disk: 50 });
    await endpoint.refresh();
    expect(endpoint.changes({ templateId })).toEqual([]);
    await endpoint.up({ imageName: "acme/own:2" });
    expect(await containerOf(endpoint.id)).toEqual({
      image: "acme/own:2",
      args: "",
      disk: 50,
      env: {},
      ports: [],
      registry: null,
    });
    await endpoint.refresh();
    expect(endpoint.changes({ imageName: "acme/own:2" })).toEqual([]);
  });
});

describe("an endpoint with a template and its own settings", () => {
  test("has the template's settings where the program sets none, also after updates of the template", async () => {
    const { id: templateId, update } = await template();
    const program = { templateId, imageName: "acme/own:1", env: { TOKEN: "mine", EXTRA: "1" } };
    const endpoint = await deploy(program);
    const env = { MODEL: "small", TOKEN: "mine", EXTRA: "1" };
    expect(await containerOf(endpoint.id)).toMatchObject({ image: "acme/own:1", args: "--fast" });
    await endpoint.refresh();
    expect(endpoint.changes(program)).toEqual([]);
    await update({ imageName: "acme/base:2", env: { MODEL: "large", TOKEN: "second" }, dockerArgs: "--slow" });
    const { env: updated, ...rest } = await containerOf(endpoint.id);
    expect(rest).toMatchObject({ image: "acme/own:1", args: "--slow" });
    expect(updated).toMatchObject({ ...env, MODEL: "large" });
    await endpoint.refresh();
    expect(endpoint.changes(program)).toEqual([]);

    // A removed setting is the template's again.
    expect(endpoint.changes({ templateId, env: { EXTRA: "1" } })).toEqual(["imageName", "env.TOKEN"]);
    await endpoint.up({ templateId, env: { EXTRA: "1" } });
    expect(await containerOf(endpoint.id)).toMatchObject({
      image: "acme/base:2",
      env: { TOKEN: "second", EXTRA: "1" },
    });
  });

  test("keeps settings and variables changed by hand, unless an update of the template changes them", async () => {
    const { id: templateId, update } = await template({ containerDiskInGb: 5 });
    const { id } = await deploy({ templateId });
    const { env } = await containerOf(id);
    const changed = { image: "acme/hand:1", disk: 70, args: "--hand", ports: ["90/http"] };
    await byHand("PATCH", `serverless/${id}`, { ...changed, env: { ...Object(env), MODEL: "hand", HAND: "1" } });
    const updates: [update: Properties, container: Properties][] = [
      [{ env: { MODEL: "small", TOKEN: "second", NEW: "1" } }, {}],
      [{ imageName: "acme/base:2" }, { image: "acme/base:2" }],
      [{ dockerArgs: "" }, { args: "" }],
      [{ ports: "" }, { ports: [] }],
      [{ containerDiskInGb: 9 }, { disk: 9 }],
    ];
    let expected: Properties = changed;
    for (const [changes, container] of updates) {
      await update(changes);
      expected = { ...expected, ...container };
      expect(await containerOf(id)).toMatchObject(expected);
    }
    const { env: after } = await containerOf(id);
    expect(after).toEqual({ ...Object(env), MODEL: "hand", HAND: "1", TOKEN: "second", NEW: "1" });
  });

  test("sends only changed settings, and sets removed ones to the template's", async () => {
    const { id: templateId } = await template();
    const program = { templateId, imageName: "acme/own:1", env: { OWN: "1" } };
    const endpoint = await deploy(program);
    const { env } = await containerOf(endpoint.id);
    const byOthers = { disk: 70, args: "--hand", env: { ...Object(env), HAND: "1" } };
    await byHand("PATCH", `serverless/${endpoint.id}`, { image: "acme/hand:1", ...byOthers });
    await endpoint.up({ ...program, ports: "90/http" });
    const { env: kept, ...container } = await containerOf(endpoint.id);
    expect(container).toMatchObject({ image: "acme/hand:1", disk: 70, args: "--hand", ports: ["90/http"] });
    expect(kept).toMatchObject({ MODEL: "small", OWN: "1", HAND: "1" });
    await endpoint.up({ templateId, env: { OWN: "2" } });
    const { env: changed, ...rest } = await containerOf(endpoint.id);
    expect(rest).toMatchObject({ image: "acme/base:1", disk: 70, args: "--hand", ports: ["80/http"] });
    expect(changed).toMatchObject({ MODEL: "small", OWN: "2" });
  });

  test("an empty env is like an absent one", async () => {
    const { id: templateId } = await template();
    const [absent, empty] = [{ templateId }, { templateId, env: {} }];
    const endpoint = await deploy(absent);
    const [before, { revision }] = [await containerOf(endpoint.id), endpoint.outputs()];
    expect(endpoint.changes(empty)).toEqual([]);
    for (const program of [empty, absent]) {
      await endpoint.up({ templateId, env: { OWN: "1" } });
      expect(endpoint.changes(program)).toEqual(["env"]);
      await endpoint.up(program);
      expect(await containerOf(endpoint.id)).toEqual(before);
      expect(endpoint.outputs()["revision"]).toBe(revision);
      for (const other of [empty, absent]) expect(endpoint.changes(other)).toEqual([]);
    }
  });

  /** Expects that further refreshes leave the state as the last one did. */
  async function expectStableRefresh(endpoint: Awaited<ReturnType<typeof deploy>>) {
    const outputs = endpoint.outputs();
    for (let count = 0; count < 2; count++) {
      await endpoint.refresh();
      expect(endpoint.outputs()).toEqual(outputs);
    }
  }

  test.each<[changed: object, own: Properties]>([
    [{ env: { MODEL: "small", TOKEN: "first", ADDED: "1" } }, {}],
    [{ env: { MODEL: "small", TOKEN: "first", ADDED: "1" } }, { env: { OWN: "1" } }],
    [{ env: { MODEL: "small", TOKEN: "first", ADDED: "1" } }, { env: { ADDED: "" } }],
    [{ env: { MODEL: "small" } }, {}],
    [{ env: { MODEL: "large", TOKEN: "first" } }, { env: { MODEL: "own" } }],
    [{ env: {} }, { env: { MODEL: "" } }],
    [{ image: "acme/other:1" }, {}],
    [{ disk: 99 }, { containerDiskInGb: 7 }],
    [{ ports: [] }, {}],
    [{ args: "" }, {}],
    [{ args: "--other" }, { dockerStartCmd: ["own"] }],
  ])(
    "has the same state after each refresh when its template is changed to %j by hand; own settings: %j",
    async (changed, own) => {
      const { id: templateId } = await template();
      const endpoint = await deploy({ templateId, ...own });
      await byHand("PATCH", `templates/${templateId}`, changed);
      await endpoint.refresh();
      await expectStableRefresh(endpoint);
    },
  );

  const drifts: [changed: object, drift: string[]][] = [
    [{ image: "evil:1" }, ["imageName"]],
    [{ disk: 99 }, ["containerDiskInGb"]],
    [{ args: "" }, ["dockerArgs"]],
    [{ args: "--other" }, ["dockerArgs"]],
    [{ cmd: ["a", "b c"], entrypoint: [] }, ["dockerStartCmd"]],
    [{ ports: [] }, ["ports"]],
  ];
  test.each(drifts)(
    "reports a change by hand of %j as drift of %j, and the next deployment reverts it",
    async (changed, drift) => {
      const { id: templateId } = await template();
      const endpoint = await deploy({ templateId });
      const before = await containerOf(endpoint.id);
      await byHand("PATCH", `serverless/${endpoint.id}`, changed);
      await endpoint.refresh();
      expect(endpoint.changes({ templateId })).toEqual(drift);
      await expectStableRefresh(endpoint);
      await endpoint.up({ templateId });
      expect(await containerOf(endpoint.id)).toEqual(before);
      await endpoint.refresh();
      expect(endpoint.changes({ templateId })).toEqual([]);
    },
  );

  test("reports added, changed and removed variables one by one, which the state keeps as secrets", async () => {
    const { id: templateId } = await template();
    const endpoint = await deploy({ templateId });
    const state = endpoint.outputs();
    const { env: before } = await containerOf(endpoint.id);
    const { MODEL: _removed, ...env } = Object(before);
    await byHand("PATCH", `serverless/${endpoint.id}`, { env: { ...env, TOKEN: "theirs", ADDED: "1" } });
    await endpoint.refresh();
    expect(endpoint.changes({ templateId })).toEqual(["env"]);
    expect(endpoint.outputs()["env"]).toEqual({ MODEL: "", TOKEN: "theirs", ADDED: "1" });
    expect(secretOutputs(ServerlessEndpoint, [], endpoint.outputs(), [state])).toEqual(
      expect.arrayContaining([
        ["env", "MODEL"],
        ["env", "TOKEN"],
        ["env", "ADDED"],
      ]),
    );
    await endpoint.up({ templateId });
    expect((await containerOf(endpoint.id)).env).toEqual(before);
  });
});
