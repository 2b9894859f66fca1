import { afterEach, expect, test } from "vitest";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { type Random, randomFrom } from "../support/random";
import { createDeployment, type Declared, type Deployment, type Run } from "./support/deployment";
import { injectFaults, processOf } from "./support/fault-injection";
import { listServiceObjects, removeOrphans } from "./support/orphans";
import { createPrograms } from "./support/programs";
import { endOf, expectAgreement, removeAll, seedsOf, withStory } from "./support/schedules";

const bench = await useLifecycleBench({ templateRelease: 1000, deleteNeedsScaleDown: true });

/** Starts a new process: clients without the state of earlier clients. */
const startProcess = (random?: Random) => processOf(bench.context(), bench.proxy, random);

type Operation = "up" | "refresh" | "destroy";

const act = (deployment: Deployment, operation: Operation, program: Declared[], run: Run): Promise<void> =>
  operation === "up" ? deployment.up(program, run) : deployment[operation](run);

async function schedule(seed: number, story: string[]): Promise<void> {
  const random = randomFrom(seed);
  const programs = createPrograms(random);
  const deployment = createDeployment();
  const operations: Operation[] = [
    "up",
    ...Array.from({ length: random.int(1, 3) }, () => random.pick<Operation>(["up", "up", "refresh"])),
    "destroy",
  ];
  for (const operation of operations) {
    if (operation === "up") programs.change();
    const injected = injectFaults(bench.proxy, random);
    const run = startProcess(random);
    const end = await endOf(act(deployment, operation, programs.current(), run));
    story.push(`${operation} with ${injected.join(" ")}: ${end}${run.context.signal.aborted ? " (cancelled)" : ""}`);
    const wasKilled = run.killed();
    bench.proxy.clear();
    const orphans = await removeOrphans(bench, [deployment], () => startProcess());
    if (end === "went well") expect(orphans, "unfinished objects of a successful deployment").toEqual([]);
    const declares = (name: string): boolean => programs.current().some((declared) => declared.name === name);
    const failedToDelete = [...deployment.state.resources.keys()].some((name) => !declares(name));
    // A killed process records nothing, and neither does a failed delete, so that only a refresh would show what they changed.
    if (operation === "up" && !wasKilled && !failedToDelete && random.chance(0.3)) {
      programs.undo();
      story.push("the program returns to its previous version");
    }
    // After another undisturbed run, the service matches the program.
    await act(deployment, operation, programs.current(), startProcess());
    await expectAgreement(bench, [deployment], startProcess());
  }
  expect(await listServiceObjects(bench)).toEqual([]);
}

afterEach(() => removeAll(bench, startProcess()));

test.each(seedsOf({ short: 12, full: 600 }))(
  "schedule %i: no duplicates, no unfinished objects after a successful run, and the state equals the service after another run",
  (seed) => withStory(seed, (story) => schedule(seed, story)),
  120_000,
);
