import { expect } from "vitest";
import { kinds } from "../../../provider/resources";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { createDeployment, type Declared, type Deployment, type Run } from "./deployment";
import { listServiceObjects } from "./orphans";

/** Seeds of the schedules of a run: fewer in `npm test` than with FULL=1. FAULT_SEED=n replays one schedule. */
export function seedsOf(count: { short: number; full: number }): number[] {
  const replayed = process.env["FAULT_SEED"];
  if (replayed) return [Number(replayed)];
  return Array.from({ length: process.env["FULL"] ? count.full : count.short }, (_, index) => index + 1);
}

/** Result of an operation, for a story. */
export const endOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "went well",
    (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
  );

/** Runs a schedule; its failure contains the seed and the story of the schedule. */
export async function withStory(seed: number, work: (story: string[]) => Promise<void>): Promise<void> {
  const story: string[] = [];
  try {
    await work(story);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`schedule ${seed} (FAULT_SEED=${seed} replays it):\n${story.join("\n")}\n${text}`, {
      cause: error,
    });
  }
}

/** Ids of the objects in a state. */
export const idsIn = ({ state }: Deployment): string[] =>
  [...state.resources.values(), ...state.replaced].map(({ id }) => id);

/** Fails unless the service has exactly the objects of the states, and their properties are equal. */
export async function expectAgreement(
  bench: Pick<LifecycleBench, "listObjects">,
  deployments: readonly Deployment[],
  { context }: Run,
): Promise<void> {
  const held = (await listServiceObjects(bench)).map(({ id }) => id);
  expect(deployments.flatMap(idsIn).sort(), "each object of the service belongs to one state").toEqual(held.sort());
  const resources = deployments.flatMap(({ state }) => [...state.resources]);
  const readings = resources.map(async ([name, { kind, id, outputs }]) => {
    const readResult = await kinds[kind].read(id, outputs, context);
    return kinds[kind].diff(readResult?.outputs ?? {}, outputs).map(({ path }) => `${name}: ${path.join(".")} differs`);
  });
  expect((await Promise.all(readings)).flat()).toEqual([]);
}

const levels: Partial<Record<Declared["kind"], number>> = { ServerlessEndpoint: 2, Template: 1 };

/** Deletes all objects of the service, because objects of a failed schedule must not fail the next schedule. */
export async function removeAll(bench: Pick<LifecycleBench, "listObjects">, run: Run): Promise<void> {
  const { state, destroy } = createDeployment();
  for (const { kind, id } of await listServiceObjects(bench))
    state.resources.set(id, { name: id, kind, level: levels[kind] ?? 0, id, outputs: {} });
  await destroy(run);
}
