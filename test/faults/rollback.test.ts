import { type Dialect, systemClock } from "serverless-compute-api";
import { beforeEach, describe, expect, test } from "vitest";
import type { Path, Properties } from "../../provider/engine/values";
import { ResourceInitError } from "../../provider/framework/errors";
import { kinds } from "../../provider/resources";
import { acceleratedClock } from "../support/accelerated-clock";
import { type BenchContext, partialFailureOf, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { at, expectResponse } from "../support/raw-http";
import { handlerFile } from "../support/target";

const images = { "acme/echo:1": handlerFile("echo"), "acme/fail:1": handlerFile("fail") };
const bench = await useLifecycleBench({ images });
const { ServerlessEndpoint } = kinds;

const template = async (name: string): Promise<string> =>
  await bench.create("/templates", { name, imageName: `acme/${name}:1`, isServerless: true });
const [good, broken] = [await template("echo"), await template("fail")];
const verify = { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 600 };

/** With REST v1 only in full runs. */
const dialects: Dialect[] = process.env["FULL"] ? ["v1", "v2"] : ["v2"];

describe.each(dialects)("rolling an endpoint back with REST %s", (restVersion) => {
  let count = 0;
  let id: string;
  let deployed: Properties;
  const context = (): BenchContext => bench.context({ clock: acceleratedClock(10) }, restVersion);
  const inputsOf = (templateId: string): Properties =>
    ServerlessEndpoint.check(
      {},
      { templateId, workersMax: 1, verify },
      naming(`back-${restVersion}-${count}`),
      [],
      restVersion,
    ).inputs;
  beforeEach(async () => {
    count++;
    ({ id, outputs: deployed } = await ServerlessEndpoint.create(inputsOf(good), context()));
    bench.proxy.clear();
  });
  /** The rollback: an update of the endpoint with the previous template. */
  const revertRequest = { method: "PATCH", body: new RegExp(good) };

  const fail = (olds: Properties, paths: Path[] = []): Promise<ResourceInitError> =>
    partialFailureOf(
      ServerlessEndpoint.update(id, olds, inputsOf(broken), { ...context(), secrets: { paths, values: [] } }),
    );
  const templateNow = async (): Promise<unknown> =>
    (await ServerlessEndpoint.read(id, { ...deployed, templateId: "" }, context()))?.inputs["templateId"];

  test("a lost response is retried", async () => {
    bench.proxy.inject(revertRequest, { kind: "dropResponse" }, 2);
    const failure = await fail(deployed);
    expect(failure.message).toMatch(/^\S+ \(version 2\) failed its verification; \S+ \(version 1\) keeps serving/);
    expect(failure.outputs).toMatchObject({ templateId: good });
    expect(await templateNow()).toBe(good);
  });

  test.each<{ path: Path }>([
    { path: ["verify", "triggers", "0"] },
    { path: ["verify"] },
    { path: ["templateId"] },
    { path: ["imageName"] },
  ])("the message has no image if it or the template's revision is secret at $path", async ({ path }) => {
    const failure = await fail(deployed, [path]);
    expect(failure.message).toMatch(/^version 2 failed its verification; version 1 keeps serving/);
    expect(failure.message).not.toContain("acme/");
  });

  test("a response that is lost every time leads to a lookup, which finds the rollback", async () => {
    bench.proxy.inject(revertRequest, { kind: "dropResponse" }, 100);
    const failure = await fail(deployed);
    expect(failure.message).toMatch(/^\S+ \(version 2\) failed its verification; \S+ \(version 1\) keeps serving/);
    expect(failure.outputs).toMatchObject({ templateId: good });
    expect(failure.outputs).not.toHaveProperty("unverified");
  });

  test("a rejected rollback names the running version and the fix, and the next deployment rolls back", async () => {
    bench.proxy.inject(revertRequest, { kind: "status", status: 403 }, 1);
    const rollbackFailure = await fail(deployed);
    expect(rollbackFailure.message).toMatch(/^\S+ \(version 2\) failed its verification, and the rollback failed: /);
    expect(rollbackFailure.message).toContain(`The endpoint runs template "${broken}", unverified.`);
    expect(rollbackFailure.message).toContain(`(${id}) manually, set templateId "${good}".`);
    expect(rollbackFailure.outputs).toMatchObject({ templateId: broken, unverified: { before: { templateId: good } } });
    const failure = await fail(rollbackFailure.outputs);
    expect(failure.message).toContain("keeps serving");
    expect(failure.outputs).toMatchObject({ templateId: good });
    expect(await templateNow()).toBe(good);
  });

  /** The rollout: an update of the endpoint with the new template. */
  const switching = { method: "PATCH", body: new RegExp(broken) };

  test("a rollout without a response is unverified: reverting it sends the old template", async () => {
    bench.proxy.inject(switching, { kind: "dropResponse" }, 100);
    // With REST v2, a read of the endpoint after the rollout would show it.
    const reading = { method: "GET", path: new RegExp(`^/v2/serverless/${id}$`) };
    bench.proxy.inject(reading, { kind: "delayRequest", ms: 0 });
    bench.proxy.inject(reading, { kind: "dropResponse" }, 100);
    const uncertain = await fail(deployed);
    expect(uncertain.message).toMatch(/may or may not have been updated\n[\s\S]*sends the settings again/);
    expect(uncertain.outputs).toEqual({ ...deployed, unverified: { before: { templateId: good } } });
    expect(await templateNow()).toBe(broken);
    bench.proxy.clear();
    const outputs = await ServerlessEndpoint.update(id, uncertain.outputs, inputsOf(good), context());
    expect(outputs).not.toHaveProperty("unverified");
    expect(bench.proxy.requests.filter(({ path }) => path.endsWith("/run"))).toHaveLength(1);
    expect(await templateNow()).toBe(good);
  });

  test("a rollout that the service rejects fails without an unverified state", async () => {
    bench.proxy.inject(switching, { kind: "status", status: 403 });
    const failure: unknown = await ServerlessEndpoint.update(id, deployed, inputsOf(broken), context()).catch(
      (error: unknown) => error,
    );
    expect(failure).not.toBeInstanceOf(ResourceInitError);
    expect(String(failure)).toContain("the API key is valid but lacks a permission");
    expect(await templateNow()).toBe(good);
  });

  test("a rollout that never arrived is repeated by the next deployment, and rolled back if that fails", async () => {
    bench.proxy.inject(switching, { kind: "dropRequest" }, 100);
    const uncertain = await fail(deployed);
    expect(await templateNow()).toBe(good);
    bench.proxy.clear();
    const failure = await fail(uncertain.outputs);
    expect(failure.message).toMatch(/failed its verification; \S+ \(version 1\) keeps serving/);
    expect(failure.outputs).toMatchObject({ templateId: good });
    expect(await templateNow()).toBe(good);
  });

  test("a rollout of a killed process is detected by a refresh and can be reverted", async () => {
    bench.proxy.inject(switching, { kind: "clientGone", applied: true });
    await ServerlessEndpoint.update(id, deployed, inputsOf(broken), context()).catch(() => {});
    bench.proxy.clear();
    const readResult = await ServerlessEndpoint.read(id, deployed, context());
    expect(readResult?.outputs).toMatchObject({ templateId: broken });
    await ServerlessEndpoint.update(id, readResult?.outputs ?? {}, inputsOf(good), context());
    expect(bench.proxy.requests.filter(({ path }) => path.endsWith("/run"))).toHaveLength(1);
    expect(await templateNow()).toBe(good);
  });

  test("a Ctrl-C during the rollout waits for its response, so that the state is correct", async () => {
    const stop = new AbortController();
    const cancel = () => stop.abort(new Error("the deployment was cancelled"));
    bench.proxy.inject(switching, { kind: "delayRequest", until: cancel });
    // The wait of 2 s for a response elapses in real time.
    const cancelled = { ...context(), clock: systemClock, signal: stop.signal };
    const { outputs } = await partialFailureOf(ServerlessEndpoint.update(id, deployed, inputsOf(broken), cancelled));
    expect(outputs).toMatchObject({ templateId: broken, unverified: { before: { templateId: good } } });
    expect(await templateNow()).toBe(broken);
  });
});

test.each([false, true])(
  "REST v1 rolls an endpoint of REST v2 back to the copied template, after a refresh by v1: %s",
  async (isRefreshed) => {
    const context = (dialect: Dialect): BenchContext => bench.context({ clock: acceleratedClock(10) }, dialect);
    const inputsOf = (templateId: string, dialect: Dialect): Properties => {
      const program = { templateId, workersMax: 1, verify };
      return ServerlessEndpoint.check({}, program, naming(`switched-${isRefreshed}`), [], dialect).inputs;
    };
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf(good, "v2"), context("v2"));
    const read = isRefreshed ? await ServerlessEndpoint.read(id, outputs, context("v1")) : undefined;
    const update = ServerlessEndpoint.update(id, read?.outputs ?? outputs, inputsOf(broken, "v1"), context("v1"));
    const failure = await partialFailureOf(update);
    expect(failure.message).toMatch(/failed its verification; \S+ .*keeps serving/);
    expect(failure.outputs).toMatchObject({ templateId: good });
    const record = await ServerlessEndpoint.read(id, failure.outputs, context("v1"));
    expect(record?.inputs).toMatchObject({ templateId: good });
  },
);

test("variables of an update without a response are sent again when the program reverts it", async () => {
  const context = (): BenchContext => bench.context({ clock: acceleratedClock(10) }, "v2");
  const inputsOf = (env: Properties): Properties =>
    ServerlessEndpoint.check({}, { templateId: good, workersMax: 1, verify, env }, naming("variables"), [], "v2")
      .inputs;
  const { id, outputs } = await ServerlessEndpoint.create(inputsOf({ A: "1" }), context());
  const reading = { method: "GET", path: new RegExp(`^/v2/serverless/${id}$`) };
  bench.proxy.inject({ method: "PATCH" }, { kind: "dropResponse" }, 100);
  // The reads of the previous version and of its variables.
  for (let count = 0; count < 2; count++) bench.proxy.inject(reading, { kind: "delayRequest", ms: 0 });
  bench.proxy.inject(reading, { kind: "dropResponse" }, 100);
  const uncertain = await partialFailureOf(
    ServerlessEndpoint.update(id, outputs, inputsOf({ A: "2", D: "1" }), context()),
  );
  expect(uncertain.outputs).toMatchObject({ unverified: { before: { env: { A: "1" } } } });
  bench.proxy.clear();
  const reverted = await ServerlessEndpoint.update(id, uncertain.outputs, inputsOf({ A: "1" }), context());
  const found = await ServerlessEndpoint.read(id, reverted, context());
  expect(found?.inputs["env"]).toEqual({ A: "1" });
});

test.each<Dialect>(["v1", "v2"])(
  "with REST %s, a rollback restores values that contradicted the update",
  async (dialect) => {
    const context = (): BenchContext => bench.context({ clock: acceleratedClock(10) }, dialect);
    const inputsOf = (olds: Properties, news: Properties): Properties =>
      ServerlessEndpoint.check(olds, { verify, ...news }, naming(`contradicted-${dialect}`), [], dialect).inputs;
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf({}, { templateId: good }), context());
    await bench.rest("PATCH", `/endpoints/${id}`, { workersMin: 2 });
    const read = await ServerlessEndpoint.read(id, outputs, context());
    const news = inputsOf(read?.inputs ?? {}, { templateId: broken, workersMax: 1 });
    const failure = await partialFailureOf(ServerlessEndpoint.update(id, read?.outputs ?? {}, news, context()));
    expect(failure.message).toContain("keeps serving");
    const endpoint = await bench.rest("GET", `/endpoints/${id}`);
    expect(endpoint.json).toMatchObject({ workersMin: 2, workersMax: 3 });
  },
);

describe("a template that was deleted outside the stack", () => {
  const name = "deleted-template";
  const context = (): BenchContext => bench.context({ clock: acceleratedClock(10) }, "v2");
  const inputsOf = (templateId: string): Properties =>
    ServerlessEndpoint.check({}, { templateId, workersMax: 1, verify }, naming(name), [], "v2").inputs;

  test.each([403, undefined] as const)(
    "is not named in messages if its image is secret (response to the rollback: %s)",
    async (status) => {
      const id = await bench.create("/templates", { name: "secret", imageName: "acme/echo:1", isServerless: true });
      const { id: endpointId, outputs } = await ServerlessEndpoint.create(inputsOf(id), context());
      expectResponse(await bench.rest("DELETE", `/templates/${id}`), 204);
      if (status !== undefined)
        bench.proxy.inject({ method: "PATCH", body: /acme\/echo/ }, { kind: "status", status }, 1);
      const secrets = { paths: [["verify", "triggers", "0"]], values: [] };
      const update = ServerlessEndpoint.update(endpointId, outputs, inputsOf(broken), { ...context(), secrets });
      const { message } = await partialFailureOf(update);
      expect(message).toMatch(status === undefined ? /keeps serving/ : /the rollback failed/);
      expect(message).not.toContain("acme/");
    },
  );

  test.each([
    ["its settings if the endpoint runs them", (templateId: string) => ({ templateId })],
    [
      "the running version if only the state names it",
      (templateId: string) => ({ templateId: good, unverified: { before: { templateId } } }),
    ],
  ])("does not prevent the rollback, which restores %s", async (title, stateWith) => {
    const id = await bench.create("/templates", { name: title, imageName: "acme/echo:1", isServerless: true });
    const state = stateWith(id);
    const created = await ServerlessEndpoint.create(inputsOf(state.templateId), context());
    expectResponse(await bench.rest("DELETE", `/templates/${id}`), 204);
    const update = ServerlessEndpoint.update(created.id, { ...created.outputs, ...state }, inputsOf(broken), context());
    const failure = await partialFailureOf(update);
    expect(failure.message).toMatch(/^acme\/fail:1 .* failed its verification; acme\/echo:1 .*keeps serving/);
    const endpoint = await bench.rest("GET", `/endpoints/${created.id}?includeTemplate=true`);
    expect(at(endpoint.json, "template", "imageName")).toBe("acme/echo:1");
    const read = await ServerlessEndpoint.read(created.id, failure.outputs, context());
    const changes = ServerlessEndpoint.diff(read?.outputs ?? {}, failure.outputs, "v2");
    expect(changes.map(({ path: [key] }) => key)).toEqual(["verify"]);
    const outputs = await ServerlessEndpoint.update(created.id, failure.outputs, inputsOf(good), context());
    expect(outputs).toMatchObject({ templateId: good });
    expect(outputs).not.toHaveProperty("unverified");
  });
});
