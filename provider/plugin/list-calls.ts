import type { listRequest, listResponse, Request, Response } from "../engine/messages";
import { hasUnknown, type Properties } from "../engine/values";
import { noSecrets } from "../framework/contract";
import type { NamedObject } from "../framework/definition";
import type { Listing } from "../framework/lists";
import { explainLookup } from "../framework/messages";
import type { ProviderProcess } from "../framework/process";
import { shortType } from "../framework/urn";
import { listInputs } from "../functions/functions";
import { isObjectKind, type ObjectKind, objectKindNames, objectKinds } from "../resources";

type ListRequest = Request<typeof listRequest>;
type ListResponse = Response<typeof listResponse>;

/** Handler of List, which returns the objects of a kind ordered by id; Read accepts these ids. */
export function listCalls(providerProcess: ProviderProcess) {
  return {
    list: async (request: ListRequest): Promise<ListResponse[]> => {
      const kind = kindOf(request.token);
      const namePrefix = prefixIn(request.query.properties);
      if (namePrefix === undefined) return [{ computed: {} }];
      const start = parseToken(request.continuationToken);
      const objects = await objectsOf(kind, providerProcess);
      const remaining = objects
        .filter(({ id, name }) => name.startsWith(namePrefix) && id > start.lastId)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      return pageOf(remaining, request, start.count);
    },
  };
}

/** Objects of one page, followed by the token of the next page if the list continues. */
function pageOf(
  objects: readonly { id: string; name: string }[],
  { limit, pageSize }: ListRequest,
  count: number,
): ListResponse[] {
  const limited = limit > 0 ? objects.slice(0, Math.max(0, limit - count)) : objects;
  const page = pageSize > 0 ? limited.slice(0, pageSize) : limited;
  const results = page.map(({ id, name }) => ({ result: { id, name } }));
  const last = page.at(-1);
  if (!last || page.length === limited.length) return results;
  return [...results, { continuation: { continuationToken: `${count + page.length}:${last.id}` } }];
}

/** Parses a token: the number of objects on the previous pages and the last id. */
function parseToken(token: string): { count: number; lastId: string } {
  if (token === "") return { count: 0, lastId: "" };
  const [, count, lastId] = /^(\d+):(.+)$/s.exec(token) ?? [];
  if (count === undefined || lastId === undefined)
    throw new Error(`continuationToken: ${JSON.stringify(token)} is not a valid list token; start without a token`);
  return { count: Number(count), lastId };
}

async function objectsOf(kind: ObjectKind, { connect, clock, cancellation, log }: ProviderProcess) {
  const { clients, settings } = connect();
  const progress = (text: string): void => void log.warning("", text);
  const { objects } = await explainLookup(kind, settings, () =>
    cancellation.run<Listing<NamedObject>>((signal) =>
      objectKinds[kind].reader({ clients }).list({ clients, settings, clock, signal, progress, secrets: noSecrets }),
    ),
  );
  return objects;
}

function kindOf(token: string): ObjectKind {
  const name = shortType(token);
  if (isObjectKind(name)) return name;
  throw new Error(`${token} cannot be listed; this provider lists ${objectKindNames.join(", ")}`);
}

/** Name prefix of a query; undefined if it is unknown in a preview. */
function prefixIn(query: Properties): string | undefined {
  const allowedKeys = Object.keys(listInputs);
  const unknownKey = Object.keys(query).find((key) => !allowedKeys.includes(key));
  if (unknownKey !== undefined)
    throw new Error(`${unknownKey}: unknown list input; expected one of ${allowedKeys.join(", ")}`);
  const { namePrefix = "" } = query;
  if (hasUnknown(namePrefix)) return undefined;
  if (typeof namePrefix === "string") return namePrefix;
  throw new Error(`namePrefix: is ${JSON.stringify(namePrefix)}; must be a string`);
}
