import { expect } from "vitest";
import type { Properties } from "../../../provider/lifecycle/contract";
import { kinds } from "../../../provider/resources";
import { type HeldKind, type LifecycleBench, propertiesIn } from "../../support/lifecycle-bench";
import { type Declared, type Deployment, nameIn, type Run } from "./deployment";
import type { Random } from "./random";

/** Each kind, and where the service lists its objects. */
const lists: readonly { kind: Declared["kind"]; held: HeldKind }[] = [
  { kind: "ServerlessEndpoint", held: "endpoints" },
  { kind: "NetworkVolume", held: "networkvolumes" },
  { kind: "Template", held: "templates" },
  { kind: "Secret", held: "secrets" },
  { kind: "ContainerRegistryAuth", held: "containerregistryauth" },
];

/** Something that the service holds. */
export interface HeldObject {
  kind: Declared["kind"];
  id: string;
  /** As the service tells it. */
  told: Properties;
}

/** Everything that the service holds. */
export async function heldObjects(bench: Pick<LifecycleBench, "held">): Promise<HeldObject[]> {
  const objects = lists.map(async ({ kind, held }) =>
    (await bench.held(held)).map(propertiesIn).map((told) => ({ kind, id: String(told["id"]), told })),
  );
  return (await Promise.all(objects)).flat();
}

const stopped =
  /^\w+ "([^"]+)": an object with this name exists \(([^)]+)\)[^.]*\.( To use it, set adoptExisting: true)?/;

/**
 * Deploys a program until it is deployed, as its user does: a create that stops at what a killed run left is helped on in
 * one of the ways that its message offers, the object taken over or deleted by hand. What the message names has to be there
 * and must not be in the state of any of `deployments`.
 */
export async function deployAsTold(
  bench: Pick<LifecycleBench, "held">,
  { project, program, run, random }: { project: string; program: Declared[]; run(): Run; random: Random },
  deployment: Deployment,
  others: readonly Deployment[] = [],
): Promise<void> {
  const taken = new Set<string>();
  for (;;) {
    const declared = program.map(
      (one): Declared =>
        taken.has(nameIn(project, one))
          ? { ...one, inputs: (of) => ({ ...one.inputs(of), adoptExisting: true }) }
          : one,
    );
    const failure = await deployment.up(declared, run()).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) return;
    const [, name = "", told = "", use] = stopped.exec(failure instanceof Error ? failure.message : "") ?? [];
    const ids = told.split(", ");
    if (name === "" || taken.has(name)) throw failure;
    const inState = [deployment, ...others].flatMap(({ state }) => [...state.resources.values()].map(({ id }) => id));
    const named = (await heldObjects(bench)).filter(({ id }) => ids.includes(id));
    expect(
      ids.filter((id) => inState.includes(id) || !named.some((one) => one.id === id)),
      String(failure),
    ).toEqual([]);
    if (ids.length === 1 && use !== undefined && random.chance(0.5)) taken.add(name);
    else for (const { kind, id } of named) await kinds[kind].delete(id, { name }, run().context);
  }
}
