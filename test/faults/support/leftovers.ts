import { expect } from "vitest";
import { findLeftovers } from "../../../provider/cli/recover/leftovers";
import type { Properties } from "../../../provider/lifecycle/contract";
import { kinds } from "../../../provider/resources";
import { type CollectionName, type LifecycleBench, propertiesIn } from "../../support/lifecycle-bench";
import type { Declared, Deployment, Run } from "./deployment";

/** Each kind, and where the service lists its objects, in the order in which they can be deleted. */
const lists: readonly { kind: Declared["kind"]; held: CollectionName }[] = [
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
export async function heldObjects(bench: Pick<LifecycleBench, "listObjects">): Promise<HeldObject[]> {
  const objects = lists.map(async ({ kind, held }) =>
    (await bench.listObjects(held)).map(propertiesIn).map((record) => ({ kind, id: String(record["id"]), record })),
  );
  return (await Promise.all(objects)).flat();
}

/**
 * Deletes the objects that are in no state, as the user does with the list of `serverless-compute recover`. That list must have
 * each of them and no others. Returns their ids.
 */
export async function removeLeftovers(
  bench: Pick<LifecycleBench, "listObjects">,
  deployments: readonly Deployment[],
  run: () => Run,
): Promise<string[]> {
  const inState = deployments.flatMap(({ state }) =>
    [...state.resources.values(), ...state.replaced].map(({ id }) => id),
  );
  const leftovers = (await heldObjects(bench)).filter(({ id }) => !inState.includes(id));
  const { context } = run();
  const account = {
    baseUrl: context.clients.baseUrl,
    list: (kind: Declared["kind"]) => kinds[kind].reader(context).list(context),
    close: async () => {},
  };
  const suspects = deployments.flatMap(({ urns }) => [...urns].map(([urn, kind]) => ({ urn, kind, name: undefined })));
  const recovered = await findLeftovers(suspects, account, new Set(inState));
  expect(recovered.map(({ id }) => id).sort()).toEqual(leftovers.map(({ id }) => id).sort());
  for (const { kind, id } of leftovers) await kinds[kind].delete(id, {}, run().context);
  return leftovers.map(({ id }) => id);
}
