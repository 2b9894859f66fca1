import type { CallOptions, Management } from "../management";
import { type V2GpuRecord, v2AccountLimits, v2CpuRecord, v2DataCenterRecord, v2GpuRecord } from "../shapes";
import { type Pools, poolsOf } from "./gpu-pools";
import { type RestCalls, shared } from "./rest-calls";
import { gpuStockFrom, gpuTypeFrom } from "./rest-v2-records";

/** Reads the catalog and the account's limits through REST v2. */
export function createRestV2Catalog({ ask, list }: Pick<RestCalls, "ask" | "list">, baseUrl: string) {
  const catalog = `${baseUrl}/catalog`;
  let kept: Promise<V2GpuRecord[]> | undefined;
  /** The GPU types, requested once and shared by all calls of a deployment; a failed request is not cached. */
  const gpus = (options: CallOptions | undefined): Promise<V2GpuRecord[]> => {
    if (kept) return kept;
    const pending = list(v2GpuRecord, `${catalog}/gpus`, shared(options), "gpus");
    kept = pending;
    pending.catch(() => {
      if (kept === pending) kept = undefined;
    });
    return pending;
  };

  return {
    /** The pools of serverless endpoints. */
    pools: async (options: CallOptions | undefined): Promise<Pools> => poolsOf(await gpus(options)),

    listGpuTypes: async (options) => (await gpus(options)).map(gpuTypeFrom),
    async listGpuStock(options) {
      const url = `${catalog}/gpus?include=AVAILABILITY&product=SERVERLESS`;
      return (await list(v2GpuRecord, url, options, "gpus")).map(gpuStockFrom);
    },
    async readWorkerQuota(options) {
      const request = { method: "GET", url: `${baseUrl}/account/limits`, idempotent: true } as const;
      const { serverlessWorkers: found } = await ask(v2AccountLimits, request, options);
      return found && { limit: found.limit ?? undefined, used: found.used };
    },
    async listCpuTypes(options) {
      const found = await list(v2CpuRecord, `${catalog}/cpus`, options, "cpus");
      // The service returns 0 for an unknown price.
      return found.map(({ id, price }) => ({ id, pricePerVcpu: price?.serverlessPerVcpu || undefined }));
    },
    async listDataCenters(options) {
      const found = await list(v2DataCenterRecord, `${catalog}/datacenters`, options, "dataCenters");
      return found.map(({ id, name, region }) => ({ id, name: name ?? id, region }));
    },
  } satisfies Partial<Management> & { pools: unknown };
}
