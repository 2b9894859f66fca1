import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { dialect } from "../support/dialect";
import { randomFrom } from "../support/random";
import { at } from "../support/raw-http";
import { createDeployment, type Declared, type Deployment, type Run } from "./support/deployment";
import { injectFaults, processOf } from "./support/fault-injection";
import { listServiceObjects, removeOrphans } from "./support/orphans";
import { useRolloutBench } from "./support/rollout-bench";
import { endOf, idsIn, removeAll, seedsOf, withStory } from "./support/schedules";

const bench = await useRolloutBench();

const seeds = seedsOf({ short: 3, full: dialect === "v1" ? 200 : 40 });

/** Faults of an image's version; "" is a working version. */
const faults = ["", "", "", "start", "answer", "hang", "crash"] as const;
interface Version {
  number: number;
  breaks: (typeof faults)[number];
}

/** An endpoint with a template per version, so that a rollback changes the template. */
function programOf({ number, breaks }: Version, workers: object): Declared[] {
  const template = `Template-v${number}`;
  const env = { VERSION: String(number), ...(breaks === "" ? {} : { BREAKS: breaks }) };
  // The clock of service and lifecycles is accelerated: a minute takes 3 s.
  const timeout = breaks === "" ? 1200 : 60;
  const verify = { input: {}, expect: { output: { version: String(number), works: true } }, timeout };
  return [
    { name: template, kind: "Template", level: 1, inputs: () => ({ imageName: "versioned", env }) },
    {
      name: "ServerlessEndpoint-api",
      kind: "ServerlessEndpoint",
      level: 2,
      inputs: (outputsOf) => ({ templateId: outputsOf(template).id, idleTimeout: 3600, verify, ...workers }),
    },
  ];
}

const undisturbed = (): Run => processOf(bench.context(), bench.proxy);
const outcomes: Record<string, number> = {};
const countOutcome = (outcome: string): void => {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
};
afterAll(() => console.info(`rollout schedules ${seeds.at(0)} to ${seeds.at(-1)}: ${JSON.stringify(outcomes)}`));

/** Output of a job on the endpoint: the version that ran it. */
async function runningVersion(endpointId: string): Promise<unknown> {
  const { json } = await bench.job("POST", endpointId, "/runsync", { input: {} });
  return at(json, "output");
}

/** Fails unless state and service contain the same objects, and the endpoint runs `version` with an existing template. */
async function expectVersion(version: Version, deployment: Deployment): Promise<void> {
  const { state } = deployment;
  const held = await listServiceObjects(bench);
  expect(held.map(({ id }) => id).sort(), "objects of the service and of the state").toEqual(idsIn(deployment).sort());
  const endpoint = held.find(({ kind }) => kind === "ServerlessEndpoint");
  const inputs = state.resources.get("ServerlessEndpoint-api")?.outputs;
  expect(inputs?.["templateId"], "the template in state").toBe(state.resources.get(`Template-v${version.number}`)?.id);
  expect(inputs, "a verified endpoint").not.toHaveProperty("unverified");
  await expect
    .poll(() => runningVersion(endpoint?.id ?? ""), { timeout: 20_000, interval: 100 })
    .toEqual({ version: String(version.number), works: true, n: null });
}

async function schedule(seed: number, story: string[]): Promise<void> {
  const random = randomFrom(seed);
  const workers = random.pick([
    { workersMin: 0, workersMax: 1 },
    { workersMin: 1, workersMax: 2 },
    { workersMin: 2, workersMax: 3 },
  ]);
  const deployment = createDeployment();
  story.push(JSON.stringify(workers));
  let good: Version = { number: 1, breaks: "" };
  const bring = (version: Version): Promise<string> => endOf(deployment.up(programOf(version, workers), undisturbed()));

  expect(await bring(good)).toBe("went well");
  for (let change = random.int(1, 2); change > 0; change--) {
    const next: Version = { number: good.number + 1, breaks: random.pick(faults) };
    const injected = injectFaults(bench.proxy, random);
    const killed = random.chance(0.2) ? delay(random.int(0, 1500)).then(bench.kill) : undefined;
    const run = processOf(bench.context(), bench.proxy, random);
    const end = await endOf(deployment.up(programOf(next, workers), run));
    await killed;
    story.push(`${JSON.stringify(next)} with ${injected.join(" ")}${killed ? " and a killed service" : ""}: ${end}`);
    countOutcome(
      `${next.breaks === "" ? "a good version" : "a broken version"} ${run.killed() ? "killed" : run.context.signal.aborted ? "cancelled" : end.slice(0, 6)}`,
    );
    if (killed) countOutcome("services killed");
    bench.proxy.clear();
    await removeOrphans(bench, [deployment], undisturbed);
    // The next deployment may roll back an interrupted or failed deployment that the state records as unfinished.
    if (deployment.state.resources.get("ServerlessEndpoint-api")?.unfinished && random.chance(0.4)) {
      const back = await bring(good);
      story.push(`taken back: ${back}`);
      countOutcome("taken back");
      expect(back).toBe("went well");
      await expectVersion(good, deployment);
      continue;
    }
    const again = await bring(next);
    story.push(`again: ${again}`);
    if (next.breaks === "") {
      expect(again).toBe("went well");
      good = next;
      await expectVersion(good, deployment);
      continue;
    }
    expect(again).toContain("failed its verification");
    await expectVersion(good, deployment);
    const repaired: Version = { number: next.number + 1, breaks: "" };
    expect(await bring(repaired)).toBe("went well");
    good = repaired;
    await expectVersion(good, deployment);
  }
  await deployment.destroy(undisturbed());
  expect(await listServiceObjects(bench)).toEqual([]);
}

afterEach(async () => {
  bench.proxy.clear();
  await removeAll(bench, undisturbed());
});

test.each(seeds)(
  "schedule %i: one more deployment ends in the old or the new version, verified, with no unfinished objects",
  (seed) => withStory(seed, (story) => schedule(seed, story)),
  180_000,
);
