import { expect } from "vitest";
import { findOrphans } from "../../../provider/cli/recover/unresolved";
import type { Properties } from "../../../provider/engine/values";
import { kinds } from "../../../provider/resources";
import { type CollectionName, type LifecycleBench, propertiesIn } from "../../support/lifecycle-bench";
import type { Declared, Deployment, Run } from "./deployment";

/** Each kind with the path of its list, in the order of deletion. */
const lists: readonly { kind: Declared["kind"]; collection: CollectionName }[] = [
  { kind: "ServerlessEndpoint", collection: "endpoints" },
  { kind: "Template", collection: "templates" },
  { kind: "NetworkVolume", collection: "networkvolumes" },
  { kind: "Secret", collection: "secrets" },
  { kind: "ContainerRegistryAuth", collection: "containerregistryauth" },
];

/** An object of the service. */
interface ServiceObject {
  kind: Declared["kind"];
  id: string;
  /** Its record. */
  record: Properties;
}

/** All objects of the service. */
export async function listServiceObjects(bench: Pick<LifecycleBench, "listObjects">): Promise<ServiceObject[]> {
  const objects = lists.map(async ({ kind, collection }) =>
    (await bench.listObjects(collection))
      .map(propertiesIn)
      .map((record) => ({ kind, id: String(record["id"]), record })),
  );
  return (await Promise.all(objects)).flat();
}

/**
 * Deletes the objects that are in no state, as the user does with the list of `serverless-compute recover`. That list must have
 * each of them and no others. Returns their ids.
 */
export async function removeOrphans(
  bench: Pick<LifecycleBench, "listObjects">,
  deployments: readonly Deployment[],
  run: () => Run,
): Promise<string[]> {
  const idsInState = deployments.flatMap(({ state }) =>
    [...state.resources.values(), ...state.replaced].map(({ id }) => id),
  );
  const orphans = (await listServiceObjects(bench)).filter(({ id }) => !idsInState.includes(id));
  const { context } = run();
  const account = {
    baseUrl: context.clients.baseUrl,
    list: (kind: Declared["kind"]) => kinds[kind].reader(context).list(context),
    close: async () => {},
  };
  const origins = deployments.flatMap(({ urns }) => [...urns].map(([urn, kind]) => ({ urn, kind, name: undefined })));
  const recovered = await findOrphans(origins, account, new Set(idsInState));
  expect(recovered.map(({ id }) => id).sort()).toEqual(orphans.map(({ id }) => id).sort());
  for (const { kind, id } of orphans) await kinds[kind].delete(id, {}, run().context);
  return orphans.map(({ id }) => id);
}
