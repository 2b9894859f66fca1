import { systemClock } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { freshName, objectCases } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 3_600_000 });
const cases = await objectCases(bench);

const changes: Record<(typeof cases)[number]["kind"], Properties> = {
  Template: { readme: "x" },
  ServerlessEndpoint: { workersMax: 1 },
  NetworkVolume: { size: 99 },
  Secret: { description: "x" },
  ContainerRegistryAuth: { password: "qqqq" },
};

describe.each(cases)("the custom timeout of a $kind", ({ kind, create, inputsOf }) => {
  const lifecycle = kinds[kind];

  /** Runs a verb that fails. Returns its message and its duration on the service's clock, in ms. */
  async function timed(verb: () => Promise<unknown>): Promise<{ message: string; took: number }> {
    // Only waits advance the clock, not requests.
    const resume = bench.clock.hold();
    const started = bench.clock.now();
    const message = await verb().then(
      () => "it succeeded",
      (error: unknown) => String(error),
    );
    const took = bench.clock.now() - started;
    resume();
    return { message, took };
  }

  test("bounds each verb with all its calls, retries and lookups, and the error names it", async () => {
    const name = freshName();
    const { id, outputs } = await lifecycle.create(inputsOf(name), bench.context());
    const timeout = 3000;
    const verbs = {
      create: () => lifecycle.create(inputsOf(freshName()), bench.context({ timeout })),
      update: () => lifecycle.update(id, outputs, inputsOf(name, changes[kind]), bench.context({ timeout })),
      delete: () => lifecycle.delete(id, outputs, bench.context({ timeout })),
    };
    for (const [verb, run] of Object.entries(verbs)) {
      // REST v2 replaces credentials instead.
      if (dialect === "v2" && kind === "ContainerRegistryAuth" && verb === "update") continue;
      // One call alone would try for longer than that.
      bench.proxy.inject(verb === "create" ? create : {}, { kind: "status", status: 500 }, 200);
      const { message, took } = await timed(run);
      bench.proxy.clear();
      expect(message).toContain(`${kind} "`);
      expect(message).toContain(`${verb} timed out after 3 s (customTimeouts.${verb})`);
      expect(took).toBeLessThanOrEqual(timeout);
    }
  });
});

test("a timeout during a create with a late response leaves no orphan of any kind", async () => {
  // A fifth of the timeout is for the lookup of the created object, also on a busy machine; all kinds wait in parallel.
  const timeout = 10_000;
  await Promise.all(
    cases.map(async ({ kind, create, inputsOf, idsOf }) => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "answerLate", ms: 1.2 * timeout });
      const started = Date.now();
      const made = await kinds[kind].create(inputsOf(name), bench.context({ timeout, clock: systemClock }));
      expect(Date.now() - started, kind).toBeLessThanOrEqual(timeout);
      expect(await idsOf(name), kind).toEqual([made.id]);
    }),
  );
});

test("a timeout fails no other create that waits for the same list", async () => {
  const { NetworkVolume } = kinds;
  const context = bench.context({ clock: systemClock });
  const create = (timeout: number | undefined) =>
    NetworkVolume.create(NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming(freshName())).inputs, {
      ...context,
      timeout,
    });
  bench.proxy.inject({ method: "GET" }, { kind: "answerLate", ms: 1000 });
  const [hasty, patient] = await Promise.allSettled([create(300), create(undefined)]);
  expect(hasty).toMatchObject({ reason: { message: expect.stringContaining("(customTimeouts.create)") } });
  expect(patient).toMatchObject({ status: "fulfilled" });
});

// In REST v2 no endpoint uses a template, so there is no wait.
if (dialect === "v1")
  test("a template's wait for its release ends at the timeout, and the template stays in state", async () => {
    const { Template, ServerlessEndpoint } = kinds;
    const made = await Template.create(
      Template.check({}, { imageName: "a:1" }, naming(freshName())).inputs,
      bench.context(),
    );
    const inputs = ServerlessEndpoint.check({}, { templateId: made.id, workersMax: 0 }, naming(freshName())).inputs;
    const user = await ServerlessEndpoint.create(inputs, bench.context());
    await ServerlessEndpoint.delete(user.id, user.outputs, bench.context());
    onTestFinished(bench.clock.hold());
    const started = bench.clock.now();
    const failure = await Template.delete(made.id, made.outputs, bench.context({ timeout: 20_000 })).catch(String);
    expect(failure).toMatch(/is still in use after 1\d s[\s\S]*delete timed out after 20 s/);
    expect(bench.clock.now() - started).toBeLessThanOrEqual(20_000);
  });
