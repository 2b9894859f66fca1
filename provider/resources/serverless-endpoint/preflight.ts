import { isDeepStrictEqual } from "node:util";
import type { CallOptions, GpuStockRecord, ManagementClient } from "serverless-compute-api";
import { messageOf } from "../../engine/error-text";
import { hasUnknown, type Properties, textsIn } from "../../engine/values";
import { sharedCallOptions } from "../../framework/calls";
import type { Context, Failure } from "../../framework/contract";
import { sharedValue } from "../../framework/deployment";
import { toUserError } from "../../framework/messages";

/** Time limit of each read (ms). */
const readTimeout = 10_000;

/** Creates a read that all endpoints of a deployment share. If it fails, it returns undefined and logs one warning. */
function createSharedRead<Result>(
  label: string,
  read: (management: ManagementClient, options: CallOptions) => Promise<Result | undefined>,
) {
  const shared = sharedValue((): { response?: Promise<Result | undefined> } => ({}));
  return (context: Context): Promise<Result | undefined> => {
    const { clients, cancelSignal, signal, warn } = context;
    const cache = shared(context);
    cache.response ??= read(clients.management, { ...sharedCallOptions(context), timeout: readTimeout })
      .then((result) => {
        if (result === undefined) warn(`preflight is incomplete: ${label}: the service does not report it`);
        return result;
      })
      .catch((error: unknown) => {
        (cancelSignal ?? signal).throwIfAborted();
        warn(
          `preflight is incomplete: ${messageOf(toUserError(error, { label, operation: "look up", names: context.settings.names }))}`,
        );
        return undefined;
      });
    return cache.response;
  };
}
const stockOf = createSharedRead("stock of GPU types", (management, options) => management.listGpuStock(options));
const volumesOf = createSharedRead("network volumes", (management, options) => management.listNetworkVolumes(options));
const quotaOf = createSharedRead("quota of workers", (management, options) => management.readWorkerQuota(options));

/** Inputs that determine the machines on which workers run. */
const placement = [
  "computeType",
  "gpuTypeIds",
  "gpuPools",
  "excludedGpuTypeIds",
  "dataCenterIds",
  "networkVolumeId",
  "networkVolumeIds",
];

const joinWords = (words: readonly string[]): string => words.join(" and ");

/** Returns the data centres of the workers and their text for a message; undefined if they are unlimited, or unknown in the preview. */
async function dataCentersOf(news: Properties, context: Context): Promise<{ ids: string[]; text: string } | undefined> {
  const volumeIds = [...new Set([...textsIn(news["networkVolumeId"]), ...textsIn(news["networkVolumeIds"])])];
  const listed = volumeIds.length > 0 ? ((await volumesOf(context)) ?? []) : [];
  const volumes = listed.filter(({ id }) => volumeIds.includes(id));
  // The data centre of a volume that was created after the list was read is unknown.
  if (volumes.length < volumeIds.length) return undefined;
  if (volumes.length > 0 && !hasUnknown(news["networkVolumeIds"])) {
    const ids = volumes.map(({ dataCenterId }) => dataCenterId);
    const verb = volumes.length === 1 ? "volume is" : "volumes are";
    return { ids, text: `${joinWords([...new Set(ids)])}, where its ${verb}` };
  }
  const ids = hasUnknown(news["dataCenterIds"]) ? [] : textsIn(news["dataCenterIds"]);
  return ids.length === 0 ? undefined : { ids, text: joinWords(ids) };
}

/** Returns a failure if none of the endpoint's GPU types is in stock in the data centres of its workers. */
async function stockFailures(olds: Properties, news: Properties, context: Context): Promise<Failure[]> {
  const changes = placement.some((key) => !isDeepStrictEqual(olds[key], news[key]));
  const isKnown = ![news["gpuTypeIds"], news["gpuPools"], news["excludedGpuTypeIds"]].some(hasUnknown);
  if (news["computeType"] !== "GPU" || !changes || !isKnown) return [];
  const stock = await stockOf(context);
  if (!stock) return [];
  const dataCenters = await dataCentersOf(news, context);
  const hasStock = ({ dataCenterIds }: GpuStockRecord): boolean =>
    dataCenterIds === undefined || dataCenterIds.some((id) => dataCenters?.ids.includes(id) ?? true);
  const types = textsIn(news["gpuTypeIds"]);
  const pools = textsIn(news["gpuPools"]);
  const excluded = textsIn(news["excludedGpuTypeIds"]);
  const isCandidate = ({ id, pool = "" }: GpuStockRecord): boolean =>
    !excluded.includes(id) && (pools.length === 0 || pools.includes(pool));
  const outOfStock = new Set(stock.flatMap((type) => (hasStock(type) ? [] : type.id)));
  const candidates = types.length > 0 ? types : stock.filter(isCandidate).map(({ id }) => id);
  // The stock of an unlisted type is unknown.
  if (candidates.length === 0 || !candidates.every((id) => outOfStock.has(id))) return [];
  const subject =
    types.length > 0 ? joinWords(types) : pools.length > 0 ? `no type of ${joinWords(pools)}` : "no GPU type";
  const verb = types.length === 0 ? "has" : types.length === 1 ? "has no" : "have no";
  return [
    {
      path: pools.length > 0 ? "gpuPools" : "gpuTypeIds",
      reason: `${subject} ${verb} stock in ${dataCenters?.text ?? "any data centre"}`,
    },
  ];
}

/** Workers that the deployment adds to the account, by URN of the endpoint. */
const addedWorkers = sharedValue(() => new Map<string, number>());

/** Returns a failure if the workers of this endpoint and all others exceed the account's quota. */
async function quotaFailures(olds: Properties, news: Properties, context: Context): Promise<Failure[]> {
  const newCount = news["workersMax"];
  const oldCount = typeof olds["workersMax"] === "number" ? olds["workersMax"] : 0;
  if (typeof newCount !== "number" || newCount <= oldCount) return [];
  const workersByUrn = addedWorkers(context).set(context.urn, newCount - oldCount);
  const otherWorkers = [...workersByUrn].reduce(
    (sum, [urn, workers]) => (urn === context.urn ? sum : sum + workers),
    0,
  );
  const quota = await quotaOf(context);
  if (quota?.limit === undefined) return [];
  const allocated = quota.used - oldCount + otherWorkers;
  if (allocated + newCount <= quota.limit) return [];
  workersByUrn.delete(context.urn);
  return [{ path: "workersMax", reason: `${newCount} requested, ${allocated} of ${quota.limit} already allocated` }];
}

/**
 * Compares new inputs with the stock of GPU types and the quota of workers; a deployment makes one request for each, and one for all
 * network volumes.
 */
export const preflight = async (olds: Properties, news: Properties, context: Context): Promise<Failure[]> =>
  (await Promise.all([stockFailures(olds, news, context), quotaFailures(olds, news, context)])).flat();
