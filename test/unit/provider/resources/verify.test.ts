import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { defaultsKey, defaultsOf } from "../../../../provider/framework/properties/defaults";
import { kinds } from "../../../../provider/resources";
import { acceleratedClock } from "../../../support/accelerated-clock";
import { type BenchContext, partialFailureOf, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { at } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";

const handlers = ["echo", "fail", "slow"] as const;
const images = Object.fromEntries(handlers.map((name) => [`acme/${name}:1`, handlerFile(name)]));
const bench = await useLifecycleBench({ images });
const { ServerlessEndpoint, Template } = kinds;

/** Verification that succeeds only with the handler "echo". */
const verify = { input: { text: "pong", ms: 60_000 }, expect: { output: { text: "pong" } }, timeout: 600 };

const templates = new Map<string, string>();
for (const name of handlers) {
  const template = { name, imageName: `acme/${name}:1`, isServerless: true };
  templates.set(name, await bench.create("/templates", template));
}

/** With REST v1 only in full runs. */
const dialects: Dialect[] = process.env["FULL"] ? ["v1", "v2"] : ["v2"];

describe.each(dialects)("with REST %s", (restVersion) => {
  const context = (more: object = {}): BenchContext =>
    bench.context({ clock: acceleratedClock(10), ...more }, restVersion);
  const inputsOf = (name: string, handler: string, news: Properties = {}): Properties => {
    const input = { templateId: templates.get(handler) ?? "", workersMax: 1, verify, ...news };
    const { inputs, failures } = ServerlessEndpoint.check({}, input, naming(`${name}-${restVersion}`), [], restVersion);
    expect(failures).toEqual([]);
    return inputs;
  };
  /** Numbers of submitted jobs and of endpoint changes sent since the last call. */
  const sent = (): { jobs: number; changes: number } => {
    const requests = bench.drainRequests();
    return {
      jobs: requests.filter((request) => request.endsWith("/run")).length,
      changes: requests.filter((request) => /^PATCH \/v\d\/(endpoints|serverless)/.test(request)).length,
    };
  };
  const jobsOf = async (id: string): Promise<unknown> => at((await context().clients.jobs.health(id)).jobs);

  test("a failed create stays in state, is verified again without a change, and can be deleted", async () => {
    const inputs = inputsOf("broken", "fail");
    const failure = await partialFailureOf(ServerlessEndpoint.create(inputs, context()));
    expect(failure.message).toMatch(
      /was created, but it failed its verification\njob \S+ .* ended FAILED[\s\S]*pulumi destroy/,
    );
    const olds = failure.outputs;
    expect(olds).toMatchObject({ templateId: inputs["templateId"], unverified: {} });
    expect(ServerlessEndpoint.diff(olds, inputs)).toEqual([{ path: ["verify"], kind: "update", replace: false }]);
    const readResult = await ServerlessEndpoint.read(failure.id, olds, context());
    expect(readResult?.outputs).toMatchObject({ unverified: {} });
    sent();
    const again = await partialFailureOf(ServerlessEndpoint.update(failure.id, olds, inputs, context()));
    expect(again.message).toContain("failed its verification, and no earlier version passed one");
    expect(sent()).toEqual({ jobs: 1, changes: 0 });
    const repaired = inputsOf("broken", "echo");
    const outputs = await ServerlessEndpoint.update(failure.id, again.outputs, repaired, context());
    expect(outputs).not.toHaveProperty("unverified");
    await ServerlessEndpoint.delete(failure.id, outputs, context());
  });

  test("a create succeeds once a worker has run the job; an update to a broken template is rolled back, and its state matches the service", async () => {
    sent();
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf("back", "echo"), context());
    expect(outputs).toMatchObject({ version: 1, verify: { input: verify.input } });
    expect(outputs).not.toHaveProperty("unverified");
    expect(sent()).toEqual({ jobs: 1, changes: 0 });
    expect(await jobsOf(id)).toMatchObject({ completed: 1 });
    const updateContext = context();
    const failure = await partialFailureOf(
      ServerlessEndpoint.update(id, outputs, inputsOf("back", "fail", { idleTimeout: 9 }), updateContext),
    );
    expect(failure.message).toMatch(
      /^acme\/fail:1 \(version 2\) failed its verification; acme\/echo:1 \(version 1\) keeps serving \(as version 3\), with templateId "\w+", idleTimeout 5\njob \S+ .* ended FAILED, expected COMPLETED\nerror: /,
    );
    expect(failure.outputs).toEqual({ ...outputs, version: 3 });
    expect(sent()).toEqual({ jobs: 1, changes: 2 });
    const progress = updateContext.progressMessages.join("\n");
    expect(progress).toMatch(/of 1 workers on version 2|no workers yet on version 2/);
    expect(progress).toMatch(/^version 2: job \S+ FAILED$/m);
    expect(ServerlessEndpoint.diff(failure.outputs, inputsOf("back", "fail")).map(({ path }) => path)).toEqual([
      ["templateId"],
    ]);
    expect((await ServerlessEndpoint.read(id, failure.outputs, context()))?.inputs).toEqual({
      ...inputsOf("back", "echo"),
      ...defaultsOf(outputs),
    });
    const job = await context().clients.jobs.runsync(id, { input: { text: "still" } });
    expect(job).toMatchObject({ status: "COMPLETED", output: { text: "still" } });
  });

  test("changes that affect no worker run no job: a new or changed verify, and scaling", async () => {
    const { verify: _none, ...plain } = inputsOf("quiet", "echo");
    const { id, outputs } = await ServerlessEndpoint.create(plain, context());
    sent();
    const added = await ServerlessEndpoint.update(id, outputs, inputsOf("quiet", "echo"), context());
    const expecting = { verify: { ...verify, expect: { output: { text: "never" } } } };
    const changed = await ServerlessEndpoint.update(id, added, inputsOf("quiet", "echo", expecting), context());
    expect(sent()).toEqual({ jobs: 0, changes: 0 });
    const scaled = inputsOf("quiet", "echo", { ...expecting, workersMax: 2, idleTimeout: 7 });
    await ServerlessEndpoint.update(id, changed, scaled, context());
    expect(sent()).toEqual({ jobs: 0, changes: 1 });
  });

  test("a trigger verifies again, and a template that was updated in place is not rolled back", async () => {
    const name = `in-place-${restVersion}`;
    const created = Template.check({}, { name, imageName: "acme/echo:1" }, naming(name), [], restVersion).inputs;
    const { id: templateId, outputs: before } = await Template.create(created, context());
    const triggered = (revision: string) =>
      inputsOf("place", "echo", { templateId, verify: { ...verify, triggers: [revision] } });
    const { id, outputs } = await ServerlessEndpoint.create(triggered("1"), context());
    await Template.update(templateId, before, { ...created, imageName: "acme/fail:1" }, context());
    sent();
    const changes = ServerlessEndpoint.diff(outputs, triggered("2"));
    expect(
      ServerlessEndpoint.warnings({
        changes,
        olds: outputs,
        news: triggered("2"),
        dialect: "v2",
      }).join(),
    ).toContain("changes in place");
    const failure = await partialFailureOf(ServerlessEndpoint.update(id, outputs, triggered("2"), context()));
    expect(failure.message).toContain(
      "(version 2) failed its verification and keeps running, because the template changed in place",
    );
    expect(failure.outputs).toMatchObject({ verify: { triggers: ["1"] }, unverified: { before: {} } });
    expect(sent()).toEqual({ jobs: 1, changes: 0 });
  });

  test("a cancelled verification leaves the endpoint unverified, and a later failure rolls it back", async () => {
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf("cut", "echo"), context());
    const stop = new AbortController();
    const reason = new Error("the deployment was cancelled");
    const progress = (text: string): void => {
      if (text.includes("IN_PROGRESS")) stop.abort(reason);
    };
    const news = inputsOf("cut", "slow");
    const interrupted = await partialFailureOf(
      ServerlessEndpoint.update(id, outputs, news, context({ signal: stop.signal, progress })),
    );
    expect(interrupted.message).toMatch(
      /its verification was interrupted\nthe deployment was cancelled\n.*rolls it back if that fails/,
    );
    // The state also contains the values of the service for the properties that the program omits.
    expect(interrupted.outputs).toMatchObject({
      ...outputs,
      ...news,
      version: expect.any(Number),
      revision: expect.any(String),
      [defaultsKey]: expect.arrayContaining([outputs[defaultsKey]].flat()),
      unverified: { before: { templateId: templates.get("echo") } },
    });
    sent();
    const shortTimeout = inputsOf("cut", "slow", { verify: { ...verify, timeout: 15 } });
    const failure = await partialFailureOf(ServerlessEndpoint.update(id, interrupted.outputs, shortTimeout, context()));
    expect(failure.message).toMatch(
      /^\S+ \(version 2\) failed its verification; \S+ keeps serving \(as version 3\).*\njob \S+ .* was still IN_\w+ after \d+ s; it was cancelled/,
    );
    expect(failure.outputs).toMatchObject({ templateId: templates.get("echo") });
    expect(failure.outputs).not.toHaveProperty("unverified");
    // The cancelled change may have been applied, so it is sent again.
    expect(sent()).toEqual({ jobs: 1, changes: 2 });
  });

  test("a verification that ends early enough for a rollback names the customTimeouts that limit it", async () => {
    const limited = { timeout: 30_000 };
    const hasty = await partialFailureOf(ServerlessEndpoint.create(inputsOf("hasty", "slow"), context(limited)));
    expect(hasty.message).toMatch(
      /it failed its verification\n[\s\S]*The create timed out after 30 s \(customTimeouts\.create\)\.$/,
    );
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf("hurried", "echo"), context());
    const update = ServerlessEndpoint.update(id, outputs, inputsOf("hurried", "slow"), context(limited));
    expect((await partialFailureOf(update)).message).toMatch(
      /failed its verification; [\s\S]*The update timed out after 30 s \(customTimeouts\.update\)\.$/,
    );
  });
});
