import type { CallOptions, ManagementClient } from "../management";
import { v2AccountLimits, v2CpuRecord, v2DataCenterRecord, v2GpuRecord } from "../shapes";
import { type Pools, poolsOf } from "./gpu-pools";
import { type RestCalls, sharedRequest } from "./rest-calls";
import { gpuStockFrom, gpuTypeFrom } from "./rest-v2-records";

/** Reads the catalog and the account's limits through REST v2. */
export function createRestV2Catalog({ send, list }: Pick<RestCalls, "send" | "list">, baseUrl: string) {
  const catalog = `${baseUrl}/catalog`;
  const gpus = `${catalog}/gpus`;
  const requestGpus = sharedRequest({ method: "GET", url: gpus }, (options) =>
    list(v2GpuRecord, gpus, options, "gpus"),
  );

  return {
    /** The pools of serverless endpoints. */
    pools: async (options: CallOptions | undefined): Promise<Pools> => poolsOf(await requestGpus(options)),

    listGpuTypes: async (options) => (await requestGpus(options)).map(gpuTypeFrom),
    async listGpuStock(options) {
      const url = `${gpus}?include=AVAILABILITY&product=SERVERLESS`;
      return (await list(v2GpuRecord, url, options, "gpus")).map(gpuStockFrom);
    },
    async readWorkerQuota(options) {
      const request = { method: "GET", url: `${baseUrl}/account/limits`, idempotent: true } as const;
      const { serverlessWorkers: quota } = await send(v2AccountLimits, request, options);
      return quota && { limit: quota.limit ?? undefined, used: quota.used };
    },
    async listCpuTypes(options) {
      const records = await list(v2CpuRecord, `${catalog}/cpus`, options, "cpus");
      // The service returns 0 for an unknown price.
      return records.map(({ id, price }) => ({ id, pricePerVcpu: price?.serverlessPerVcpu || undefined }));
    },
    async listDataCenters(options) {
      const records = await list(v2DataCenterRecord, `${catalog}/datacenters`, options, "dataCenters");
      return records.map(({ id, name, region }) => ({ id, name: name ?? id, region }));
    },
  } satisfies Partial<ManagementClient> & { pools: unknown };
}
