import { isDeepStrictEqual } from "node:util";
import type { CallOptions, Clients, GpuStockRecord, Management } from "serverless-compute-api";
import { sharedCallOptions } from "../../lifecycle/calls";
import type { Failure, PreflightContext, Properties } from "../../lifecycle/contract";
import { messageOf } from "../../lifecycle/failures";
import { withExplanation } from "../../lifecycle/messages";
import { hasUnknown, textOf, textsIn } from "../../lifecycle/properties/values";

/** Time limit of each read (ms). */
const readLimit = 10_000;

/** Creates a read that all endpoints of a deployment share. If it fails, it returns undefined and logs one warning. */
function sharedRead<Result>(
  label: string,
  read: (management: Management, options: CallOptions) => Promise<Result | undefined>,
) {
  const results = new WeakMap<Clients, Promise<Result | undefined>>();
  return (context: PreflightContext): Promise<Result | undefined> => {
    const { clients, cancelSignal, signal, warn } = context;
    const existing = results.get(clients);
    if (existing) return existing;
    const pending = read(clients.management, { ...sharedCallOptions(context), timeout: readLimit })
      .then((result) => {
        if (result === undefined) warn(`preflight is incomplete: ${label}: the service does not report it`);
        return result;
      })
      .catch((error: unknown) => {
        (cancelSignal ?? signal).throwIfAborted();
        warn(`preflight is incomplete: ${messageOf(withExplanation(error, { label, verb: "look up" }))}`);
        return undefined;
      });
    results.set(clients, pending);
    return pending;
  };
}
const stockOf = sharedRead("stock of GPU types", (management, options) => management.listGpuStock(options));
const quotaOf = sharedRead("quota of workers", (management, options) => management.readWorkerQuota(options));

/** Inputs that determine the machines on which workers run. */
const placement = [
  "computeType",
  "gpuTypeIds",
  "excludedGpuTypeIds",
  "dataCenterIds",
  "networkVolumeId",
  "networkVolumeIds",
];

const listed = (words: readonly string[]): string => words.join(" and ");

/** Returns the data centres of the workers and their text for a message; undefined if they are unlimited, or unknown in the preview. */
function placesOf(
  news: Properties,
  objects: PreflightContext["objects"],
): { ids: string[]; words: string } | undefined {
  const volumeIds = [...new Set([...textsIn(news["networkVolumeId"]), ...textsIn(news["networkVolumeIds"])])];
  const volumes = volumeIds.map((id) => objects.get(id) ?? {});
  const volumeCenters = volumes.flatMap((volume) => textOf(volume, "dataCenterId") ?? []);
  const isKnown = volumeCenters.length === volumes.length && !hasUnknown(news["networkVolumeIds"]);
  if (volumeCenters.length > 0 && isKnown) {
    const names = volumes.map((volume) => textOf(volume, "name"));
    const named = names.length === 1 && names[0] !== undefined ? `volume "${names[0]}" is` : undefined;
    const words = named ?? (names.length === 1 ? "its volume is" : "its volumes are");
    return { ids: volumeCenters, words: `${listed([...new Set(volumeCenters)])}, where ${words}` };
  }
  const ids = hasUnknown(news["dataCenterIds"]) ? [] : textsIn(news["dataCenterIds"]);
  return ids.length === 0 ? undefined : { ids, words: listed(ids) };
}

/** Returns a failure if none of the endpoint's GPU types is in stock in the data centres of its workers. */
async function lackOfStock(olds: Properties, news: Properties, context: PreflightContext): Promise<Failure[]> {
  const changes = placement.some((key) => !isDeepStrictEqual(olds[key], news[key]));
  const isKnown = ![news["gpuTypeIds"], news["excludedGpuTypeIds"]].some(hasUnknown);
  if (news["computeType"] !== "GPU" || !changes || !isKnown) return [];
  const stock = await stockOf(context);
  if (!stock) return [];
  const places = placesOf(news, context.objects);
  const hasStock = ({ dataCenterIds }: GpuStockRecord): boolean =>
    dataCenterIds === undefined || dataCenterIds.some((id) => places?.ids.includes(id) ?? true);
  const types = textsIn(news["gpuTypeIds"]);
  const excluded = textsIn(news["excludedGpuTypeIds"]);
  const scarce = new Set(stock.flatMap((type) => (hasStock(type) ? [] : type.id)));
  const candidates = types.length > 0 ? types : stock.map(({ id }) => id).filter((id) => !excluded.includes(id));
  // The stock of an unlisted type is unknown.
  if (candidates.length === 0 || !candidates.every((id) => scarce.has(id))) return [];
  const subject = types.length > 0 ? listed(types) : "no GPU type";
  const verb = types.length === 0 ? "has" : types.length === 1 ? "has no" : "have no";
  return [{ path: "gpuTypeIds", reason: `${subject} ${verb} stock in ${places?.words ?? "any data centre"}` }];
}

/** Workers that the deployment adds to the account, by URN of the endpoint. */
const added = new WeakMap<Clients, Map<string, number>>();

/** Returns a failure if the workers of this endpoint and all others exceed the account's quota. */
async function excessOfQuota(olds: Properties, news: Properties, context: PreflightContext): Promise<Failure[]> {
  const requested = news["workersMax"];
  const previous = typeof olds["workersMax"] === "number" ? olds["workersMax"] : 0;
  if (typeof requested !== "number" || requested <= previous) return [];
  const all = added.get(context.clients) ?? new Map<string, number>();
  added.set(context.clients, all.set(context.urn, requested - previous));
  const others = [...all].reduce((sum, [urn, workers]) => (urn === context.urn ? sum : sum + workers), 0);
  const quota = await quotaOf(context);
  if (quota?.limit === undefined) return [];
  const allocated = quota.used - previous + others;
  if (allocated + requested <= quota.limit) return [];
  all.delete(context.urn);
  return [{ path: "workersMax", reason: `${requested} requested, ${allocated} of ${quota.limit} already allocated` }];
}

/** Compares new inputs with the stock of GPU types and the quota of workers; a deployment makes one request for each. */
export const preflight = async (olds: Properties, news: Properties, context: PreflightContext): Promise<Failure[]> =>
  (await Promise.all([lackOfStock(olds, news, context), excessOfQuota(olds, news, context)])).flat();
