import { expect, test } from "vitest";
import { createDeployment, type Declared, type Run } from "./support/deployment";
import { useRolloutBench } from "./support/rollout-bench";
import { processOf } from "./support/sabotage";

const bench = await useRolloutBench();
const run = (): Run => processOf(bench.context(), bench.proxy);

const names = ["a", "b", "c"];

/** Several endpoints that are verified, all of one version of the image. */
const programOf = (version: number, workersMax: number): Declared[] => [
  {
    ...{ name: `Template-v${version}`, kind: "Template", level: 1 },
    inputs: () => ({ imageName: "versioned", env: { VERSION: String(version) } }),
  },
  ...names.map(
    (name): Declared => ({
      ...{ name: `ServerlessEndpoint-${name}`, kind: "ServerlessEndpoint", level: 2 },
      inputs: (of) => ({
        templateId: of(`Template-v${version}`).id,
        ...{ workersMin: 1, workersMax, idleTimeout: 3600 },
        verify: { input: {}, expect: { output: { version: String(version), works: true } }, timeout: 1200 },
      }),
    }),
  ),
];

/** Requests since the last `clear`, counted by purpose. */
function asked(): { updates: number; jobs: number; looks: number; polls: number; others: string[] } {
  const counts = { updates: 0, jobs: 0, looks: 0, polls: 0, others: [] as string[] };
  for (const { method, path } of bench.proxy.requests) {
    if (method === "PATCH" && /^\/v[12]\/(endpoints|serverless)\//.test(path)) counts.updates++;
    else if (/\/run(sync)?$/.test(path)) counts.jobs++;
    else if (/\/status\/[^/]+$/.test(path)) counts.looks++;
    else if (method === "GET" && /\/(workers|releases|endpoints\/[^/]+)$/.test(path)) counts.polls++;
    else counts.others.push(`${method} ${path}`);
  }
  return counts;
}

test("a scaling change runs no job and no rollout; a new version costs one update and one job each, and limited polls of workers", async () => {
  const { up, destroy, state } = createDeployment();
  await up(programOf(1, 2), run());
  const ids = names.map((name) => state.resources.get(`ServerlessEndpoint-${name}`)?.id ?? "");
  const workersOf = async () => {
    const answers = ids.map(async (id) => (await bench.rest("GET", `/endpoints/${id}?includeWorkers=true`)).json);
    return Promise.all(answers);
  };
  const before = await workersOf();

  bench.proxy.clear();
  await up(programOf(1, 3), run());
  expect(asked()).toEqual({ updates: names.length, jobs: 0, looks: 0, polls: 0, others: [] });
  const scaled = before.map((endpoint) => ({ ...(endpoint instanceof Object ? endpoint : {}), workersMax: 3 }));
  expect(await workersOf()).toEqual(scaled);

  bench.proxy.clear();
  const since = bench.now();
  await up(programOf(2, 3), run());
  const seconds = (bench.now() - since) / 1000;
  const { updates, jobs, polls, others } = asked();
  console.info(`${names.length} endpoints in ${Math.round(seconds)} s: ${jobs} jobs, ${polls} polls`);
  expect({ updates, jobs }).toEqual({ updates: names.length, jobs: names.length });
  // Each endpoint polls its workers once a second.
  expect(polls).toBeLessThanOrEqual(Math.min(names.length * (seconds + 2), seconds + 30));
  // The new template, the deletion of the old one, and the health of an endpoint whose job is still in the queue after seconds.
  expect(others.filter((one) => !/template|graphql|\/health$/i.test(one))).toEqual([]);
  await destroy(run());
});
