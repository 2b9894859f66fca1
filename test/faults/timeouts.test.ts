import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
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
  async function measure(verb: () => Promise<unknown>): Promise<{ message: string; duration: number }> {
    // Only waits advance the clock, not requests.
    const resume = bench.clock.freeze();
    const startTime = bench.clock.now();
    const message = await verb().then(
      () => "it succeeded",
      (error: unknown) => String(error),
    );
    const duration = bench.clock.now() - startTime;
    resume();
    return { message, duration };
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
    for (const verb of ["create", "update", "delete"] as const) {
      // REST v2 replaces credentials instead.
      if (dialect === "v2" && kind === "ContainerRegistryAuth" && verb === "update") continue;
      // The retries of a single call would take longer. Several deletes share a list, whose wait follows real time.
      const calls = {
        create: [create],
        update: [{}],
        delete: [{ method: "DELETE" }, { body: /mutation \w*[dD]elete/ }],
      };
      for (const match of calls[verb]) bench.proxy.inject(match, { kind: "status", status: 500 }, 200);
      const { message, duration } = await measure(verbs[verb]);
      bench.proxy.clear();
      expect(message).toContain(`${kind} "`);
      expect(message).toContain(`${verb} timed out after 3 s (customTimeouts.${verb})`);
      expect(duration).toBeLessThanOrEqual(timeout);
    }
  });
});

test("a timeout during a create with a late response leaves no orphan of any kind", async () => {
  // The clock jumps after the start: 3 s of real time remain for the requests, and 3 s for each later lookup.
  const [timeout, left] = [50_000, 3000];
  const end = timeout - 5000;
  await Promise.all(
    cases.map(async ({ kind, create, inputsOf, idsOf }) => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "delayResponse", ms: 1.5 * left });
      let delayedUntil: number | undefined;
      const now = (): number => {
        if (delayedUntil === undefined) return 0;
        return Date.now() < delayedUntil ? end - left : end;
      };
      const context = bench.context({ timeout, clock: { now, sleep: async () => {} } });
      const creating = kinds[kind].create(inputsOf(name), context);
      delayedUntil = Date.now() + left - 1;
      const created = await creating;
      expect(await idsOf(name), kind).toEqual([created.id]);
    }),
  );
});

test.each(["create", "delete"] as const)(
  "a timeout of a %s ends its wait for a list, and does not fail another that waits for it",
  async (verb) => {
    const operations = cases.find(({ kind }) => kind === (verb === "create" ? "NetworkVolume" : "Template"));
    if (!operations) throw new Error("unreachable");
    const lifecycle = kinds[operations.kind];
    const context = bench.context({ clock: systemClock });
    const prepare = async () => {
      const inputs = operations.inputsOf(freshName());
      if (verb === "create") return (more: object) => lifecycle.create(inputs, { ...context, ...more });
      const { id, outputs } = await lifecycle.create(inputs, bench.context());
      return (more: object) => lifecycle.delete(id, outputs, { ...context, ...more });
    };
    const [first, second] = [await prepare(), await prepare()];
    bench.proxy.inject({ method: "GET" }, { kind: "delayResponse", ms: 500 });
    const [hasty, patient] = await Promise.allSettled([first({ timeout: 100 }), second({})]);
    expect(hasty).toMatchObject({ reason: { message: expect.stringContaining(`(customTimeouts.${verb})`) } });
    expect(patient).toMatchObject({ status: "fulfilled" });
  },
);
