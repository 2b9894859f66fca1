import { afterEach, expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { createDeployment, type Declared, type Deployment, type Run } from "./support/deployment";
import { heldObjects, removeLeftovers } from "./support/leftovers";
import { createPrograms } from "./support/programs";
import { type Random, randomFrom } from "./support/random";
import { processOf, sabotage } from "./support/sabotage";

const bench = await useLifecycleBench({ templateRelease: 1000, deleteNeedsScaleDown: true });

/** FAULT_SEED=n replays one schedule; FULL=1 runs more of them, of REST v2 a short run does fewer. */
const replayed = process.env["FAULT_SEED"];
const seeds = replayed
  ? [Number(replayed)]
  : Array.from({ length: process.env["FULL"] ? 600 : dialect === "v1" ? 40 : 12 }, (_, index) => index + 1);

/** A new process: clients without knowledge of earlier ones. */
const startProcess = (random?: Random) => processOf(bench.context(), bench.proxy, random);

type Operation = "up" | "refresh" | "destroy";

const act = (deployment: Deployment, operation: Operation, program: Declared[], run: Run): Promise<void> =>
  operation === "up" ? deployment.up(program, run) : deployment[operation](run);

/** Differences between state and service: objects that exist in only one of them, and unequal properties. */
async function disagreements({ state }: Deployment): Promise<string[]> {
  const held = new Set((await heldObjects(bench)).map(({ id }) => id));
  const ids = [...state.resources.values(), ...state.replaced].map(({ id }) => id);
  const missing = ids.filter((id) => !held.has(id)).map((id) => `the state has ${id}, the service does not`);
  const orphans = [...held].filter((id) => !ids.includes(id)).map((id) => `the service has ${id}, the state does not`);
  const run = startProcess();
  const readings = [...state.resources].map(async ([name, { kind, id, outputs }]) => {
    const reading = await kinds[kind].read(id, outputs, run.context);
    return kinds[kind].diff(reading?.outputs ?? {}, outputs).map(({ path }) => `${name}: ${path.join(".")} differs`);
  });
  return [...missing, ...orphans, ...(await Promise.all(readings)).flat()];
}

async function schedule(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const programs = createPrograms(random);
  const deployment = createDeployment();
  const story: string[] = [];
  const operations: Operation[] = [
    "up",
    ...Array.from({ length: random.int(1, 3) }, () => random.pick<Operation>(["up", "up", "refresh"])),
    "destroy",
  ];
  try {
    for (const operation of operations) {
      if (operation === "up") programs.change();
      const injected = sabotage(bench.proxy, random);
      const run = startProcess(random);
      const end = await act(deployment, operation, programs.current(), run).then(
        () => "went well",
        (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      story.push(`${operation} with ${injected.join(" ")}: ${end}${run.context.signal.aborted ? " (cancelled)" : ""}`);
      bench.proxy.clear();
      const left = await removeLeftovers(bench, [deployment], () => startProcess());
      if (end === "went well") expect(left, "leftovers of a deployment that succeeded").toEqual([]);
      // After another undisturbed run, the service matches the program.
      await act(deployment, operation, programs.current(), startProcess());
      expect(await disagreements(deployment)).toEqual([]);
    }
    expect(await heldObjects(bench)).toEqual([]);
  } catch (error) {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`schedule ${seed} (FAULT_SEED=${seed} replays it):\n${story.join("\n")}\n${told}`, {
      cause: error,
    });
  }
}

const levels: Partial<Record<Declared["kind"], number>> = { ServerlessEndpoint: 2, Template: 1 };

// Remains of a failed schedule must not fail the next one.
afterEach(async () => {
  const { state, destroy } = createDeployment();
  for (const { kind, id } of await heldObjects(bench))
    state.resources.set(id, { kind, level: levels[kind] ?? 0, id, outputs: {} });
  await destroy(startProcess());
});

test.each(seeds)(
  "schedule %i: no duplicates, nothing unfinished after a successful run, and state equals service after one more",
  schedule,
  120_000,
);
