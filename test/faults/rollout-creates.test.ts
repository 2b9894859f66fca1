import { beforeEach, expect, test } from "vitest";
import { createDeployment, type Declared, type Run } from "./support/deployment";
import { heldObjects } from "./support/leftovers";
import { useRolloutBench } from "./support/rollout-bench";
import { processOf } from "./support/sabotage";

const bench = await useRolloutBench();
const run = (): Run => processOf(bench.context(), bench.proxy);

/** An endpoint that is verified, and its template, whose workers answer as this says. */
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

/** A process that is killed once the endpoint was made and its job was over, before its engine wrote that down. */
async function killAfterVerification(program: Declared[], end: string) {
  const deployment = createDeployment();
  const { state, up } = deployment;
  await expect(up(program, { ...run(), killed: () => state.resources.has("Template-app") })).rejects.toThrow(end);
  expect([...state.resources.keys()]).toEqual(["Template-app"]);
  expect(jobs()).toBe(1);
  const [made] = await endpoints();
  return { ...deployment, made };
}
const endpoints = async (): Promise<string[]> =>
  (await heldObjects(bench)).flatMap(({ kind, id }) => (kind === "ServerlessEndpoint" ? [id] : []));
const jobs = (): number => bench.proxy.requests.filter(({ path }) => path.endsWith("/run")).length;

beforeEach(() => bench.proxy.clear());

test("an endpoint whose process was killed after its verification is taken over and verified by the next one", async () => {
  const { made, state, up, destroy } = await killAfterVerification(programOf(""), "killed");
  await up(programOf(""), run());
  expect(await endpoints()).toEqual([made]);
  expect(state.resources.get("ServerlessEndpoint-app")).toMatchObject({ id: made });
  expect(state.resources.get("ServerlessEndpoint-app")?.outputs).not.toHaveProperty("unverified");
  expect(jobs()).toBe(2);
  await destroy(run());
  expect(await heldObjects(bench)).toEqual([]);
});

test("one that failed it is taken over, too, and stays unfinished in the state until it is repaired", async () => {
  const broken = programOf("answer");
  const { made, state, up, destroy } = await killAfterVerification(broken, "failed its verification");
  await expect(up(broken, run())).rejects.toThrow("was made, but it failed its verification");
  const kept = state.resources.get("ServerlessEndpoint-app");
  expect(kept).toMatchObject({ id: made, unfinished: true, outputs: { unverified: {} } });
  await up(programOf(""), run());
  expect(await endpoints()).toEqual([made]);
  expect(state.resources.get("ServerlessEndpoint-app")?.outputs).not.toHaveProperty("unverified");
  await destroy(run());
  expect(await heldObjects(bench)).toEqual([]);
});
