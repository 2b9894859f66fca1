import { expect } from "vitest";
import type { Properties } from "../../../provider/lifecycle/contract";
import { kinds } from "../../../provider/resources";
import { type HeldKind, type LifecycleBench, propertiesIn } from "../../support/lifecycle-bench";
import type { Declared, Deployment, Run } from "./deployment";

/** Each kind, and where the service lists its objects, in the order in which they can be deleted. */
const lists: readonly { kind: Declared["kind"]; held: HeldKind }[] = [
  { kind: "ServerlessEndpoint", held: "endpoints" },
  { kind: "Template", held: "templates" },
  { kind: "NetworkVolume", held: "networkvolumes" },
  { kind: "Secret", held: "secrets" },
  { kind: "ContainerRegistryAuth", held: "containerregistryauth" },
];

/** An object of the service. */
export interface HeldObject {
  kind: Declared["kind"];
  id: string;
  /** Its record. */
  record: Properties;
}

/** All objects of the service. */
export async function heldObjects(bench: Pick<LifecycleBench, "held">): Promise<HeldObject[]> {
  const objects = lists.map(async ({ kind, held }) =>
    (await bench.held(held)).map(propertiesIn).map((record) => ({ kind, id: String(record["id"]), record })),
  );
  return (await Promise.all(objects)).flat();
}

/**
 * Deletes what interrupted creates left, as the user does with the list of `serverless-compute recover`: objects that are in
 * no state. Each of them must have a generated name. Returns their ids.
 */
export async function removeLeftovers(
  bench: Pick<LifecycleBench, "held">,
  deployments: readonly Deployment[],
  run: () => Run,
): Promise<string[]> {
  const inState = deployments.flatMap(({ state }) =>
    [...state.resources.values(), ...state.replaced].map(({ id }) => id),
  );
  const leftovers = (await heldObjects(bench)).filter(({ id }) => !inState.includes(id));
  for (const { kind, id, record } of leftovers) {
    // A service may append a suffix of its own to the name of an endpoint.
    expect(record["name"]).toMatch(/-dev-[0-9a-f]{7}( ?-fb)?$/);
    await kinds[kind].delete(id, {}, run().context);
  }
  return leftovers.map(({ id }) => id);
}
