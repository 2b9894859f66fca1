import { beforeEach, expect, test } from "vitest";
import { createDeployment, type Declared, type Run } from "./support/deployment";
import { heldObjects, removeLeftovers } from "./support/leftovers";
import { useRolloutBench } from "./support/rollout-bench";
import { processOf } from "./support/sabotage";

const bench = await useRolloutBench();
const run = (): Run => processOf(bench.context(), bench.proxy);

/** A verified endpoint and its template, whose workers fail in the way that `breaks` names. */
const programOf = (breaks: string): Declared[] => [
  {
    ...{ name: "Template-app", kind: "Template", level: 1 },
    inputs: () => ({ imageName: "versioned", env: { VERSION: "1", BREAKS: breaks } }),
  },
  {
    ...{ name: "ServerlessEndpoint-app", kind: "ServerlessEndpoint", level: 2 },
    inputs: (of) => ({
      templateId: of("Template-app").id,
      ...{ workersMax: 1, idleTimeout: 3600 },
      verify: { input: {}, expect: { output: { works: true } }, timeout: 600 },
    }),
  },
];
const endpoints = async (): Promise<string[]> =>
  (await heldObjects(bench)).flatMap(({ kind, id }) => (kind === "ServerlessEndpoint" ? [id] : []));

beforeEach(() => bench.proxy.clear());

test("an endpoint whose process was killed after its verification is unmanaged; the next deployment creates its own", async () => {
  const deployment = createDeployment();
  const { state, up, destroy } = deployment;
  const killed = { ...run(), killed: () => state.resources.has("Template-app") };
  await expect(up(programOf(""), killed)).rejects.toThrow("killed");
  const [left] = await endpoints();
  await up(programOf(""), run());
  expect(state.resources.get("ServerlessEndpoint-app")?.id).not.toBe(left);
  expect(state.resources.get("ServerlessEndpoint-app")?.outputs).not.toHaveProperty("unverified");
  expect(await removeLeftovers(bench, [deployment], run)).toEqual([left]);
  await destroy(run());
  expect(await heldObjects(bench)).toEqual([]);
});

test("an endpoint that fails its verification stays in state as unfinished until it is repaired", async () => {
  const { state, up, destroy } = createDeployment();
  await expect(up(programOf("answer"), run())).rejects.toThrow("was created, but it failed its verification");
  const [made] = await endpoints();
  const kept = state.resources.get("ServerlessEndpoint-app");
  expect(kept).toMatchObject({ id: made, unfinished: true, outputs: { unverified: {} } });
  await up(programOf(""), run());
  expect(await endpoints()).toEqual([made]);
  expect(state.resources.get("ServerlessEndpoint-app")?.outputs).not.toHaveProperty("unverified");
  await destroy(run());
  expect(await heldObjects(bench)).toEqual([]);
});
