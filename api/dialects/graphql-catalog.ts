import { z } from "zod";
import type { CallOptions, ManagementClient } from "../management";
import { listOf, orUndefined, recordId } from "../shapes";
import type { GraphqlCalls } from "./graphql-calls";

const documents = {
  gpuTypes: `query gpuTypes { serverlessGpuPools { id gpuTypeIds }
    gpuTypes { id displayName manufacturer memoryInGb lowestPrice(input: { gpuCount: 1 }) { uninterruptablePrice } } }`,
  dataCenters: "query dataCenters { dataCenters { id name region } }",
  gpuStock:
    "query gpuStock { serverlessGpuPools { id gpuTypeIds } dataCenters { id gpuAvailability { gpuTypeId available } } }",
  workerQuota: "query workerQuota { myself { maxServerlessConcurrency endpoints { workersMax } } }",
} as const;

const gpuPools = listOf(z.looseObject({ id: recordId, gpuTypeIds: listOf(z.string()) }));
const gpuCatalog = z.lazy(() =>
  z.looseObject({
    gpuTypes: z.array(
      z.looseObject({
        id: recordId,
        displayName: z.string().nullish(),
        manufacturer: z.string().nullish(),
        memoryInGb: z.number().nullish(),
        lowestPrice: z.looseObject({ uninterruptablePrice: z.number().nullish() }).nullish(),
      }),
    ),
    serverlessGpuPools: gpuPools,
  }),
);
const dataCenterCatalog = z.lazy(() =>
  z.looseObject({
    dataCenters: z.array(z.looseObject({ id: recordId, name: z.string().nullish(), region: z.string().nullish() })),
  }),
);

const gpuStockCatalog = z.lazy(() =>
  z.looseObject({
    serverlessGpuPools: gpuPools,
    dataCenters: z.array(
      z.looseObject({
        id: recordId,
        gpuAvailability: listOf(z.looseObject({ gpuTypeId: z.string(), available: z.boolean().nullish() })),
      }),
    ),
  }),
);
const workerQuota = z.lazy(() =>
  z.looseObject({
    myself: z.looseObject({
      maxServerlessConcurrency: orUndefined(z.number()),
      endpoints: listOf(z.looseObject({ workersMax: z.number().nullish() })),
    }),
  }),
);

/** The pool that contains a GPU type. */
const poolOf = (id: string, pools: z.output<typeof gpuPools>): string | undefined =>
  pools.find(({ gpuTypeIds }) => gpuTypeIds.includes(id))?.id;

/** Reads the catalog and the worker quota through GraphQL. */
export function createGraphqlCatalog(calls: Pick<GraphqlCalls, "send">) {
  const query = <Shape extends z.ZodType>(name: keyof typeof documents, shape: Shape, options?: CallOptions) =>
    calls.send({ name, document: documents[name], shape, idempotent: true }, options);

  return {
    async listGpuTypes(options) {
      const { gpuTypes, serverlessGpuPools } = await query("gpuTypes", gpuCatalog, options);
      return gpuTypes.map(({ id, displayName, manufacturer, memoryInGb, lowestPrice }) => ({
        id,
        name: displayName ?? id,
        // GraphQL returns "Nvidia"; REST v2 uses upper case.
        manufacturer: manufacturer?.toUpperCase(),
        memoryInGb: memoryInGb ?? undefined,
        pool: poolOf(id, serverlessGpuPools),
        price: lowestPrice?.uninterruptablePrice ?? undefined,
      }));
    },
    async listGpuStock(options) {
      const { dataCenters, serverlessGpuPools } = await query("gpuStock", gpuStockCatalog, options);
      const dataCenterIdsByType = new Map<string, string[]>();
      for (const { id, gpuAvailability } of dataCenters)
        for (const { gpuTypeId, available } of gpuAvailability)
          dataCenterIdsByType.set(gpuTypeId, [
            ...(dataCenterIdsByType.get(gpuTypeId) ?? []),
            ...(available ? [id] : []),
          ]);
      return [...dataCenterIdsByType].map(([id, dataCenterIds]) => ({
        id,
        pool: poolOf(id, serverlessGpuPools),
        dataCenterIds,
      }));
    },
    async readWorkerQuota(options) {
      const { myself } = await query("workerQuota", workerQuota, options);
      const used = myself.endpoints.reduce((sum, { workersMax }) => sum + (workersMax ?? 0), 0);
      return { limit: myself.maxServerlessConcurrency, used };
    },
    async listDataCenters(options) {
      const { dataCenters } = await query("dataCenters", dataCenterCatalog, options);
      return dataCenters.map(({ id, name, region }) => ({ id, name: name ?? id, region: region ?? undefined }));
    },
  } satisfies Partial<ManagementClient>;
}
