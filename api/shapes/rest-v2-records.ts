import { z } from "zod";
import { v2ContainerRecord } from "./container";
import { isoTimestamp, listOf, orUndefined, recordId, recordShapes, v2RecordShape } from "./record-values";
import { plainEndpointFields, workerRecord } from "./serverless-endpoint";
import { templateFields } from "./template";

/** Response shapes of REST v2, in the same units as requests; the service adds fields over time. */

/** Pagination of a list response; absent if the list is not paged. */
export const v2Page = z.lazy(() =>
  z.looseObject({
    pagination: orUndefined(z.looseObject({ nextCursor: orUndefined(z.string()), hasNextPage: z.boolean() })),
  }),
);

/** An endpoint as returned by the service, without its template. */
export const v2EndpointRecord = z.lazy(() =>
  v2RecordShape(
    templateFields,
    z.looseObject({
      ...recordShapes(plainEndpointFields),
      id: recordId,
      name: z.string(),
      type: orUndefined(z.string()),
      requestUrls: orUndefined(z.record(z.string(), z.string())),
      ...v2ContainerRecord(),
      gpu: orUndefined(
        z.looseObject({
          pools: listOf(z.string()),
          excludedTypes: listOf(z.string()),
          count: orUndefined(z.number()),
          allowedCudaVersions: listOf(z.string()),
          minCudaVersion: orUndefined(z.string()),
        }),
      ),
      cpu: orUndefined(z.array(z.looseObject({ id: recordId, vcpuCount: z.number() }))),
      workers: orUndefined(
        z.looseObject({
          min: orUndefined(z.number()),
          max: orUndefined(z.number()),
          idleTimeout: orUndefined(z.number()),
        }),
      ),
      scaling: orUndefined(
        z.looseObject({
          type: z.string(),
          queueDelay: orUndefined(z.number()),
          requestCount: orUndefined(z.number()),
        }),
      ),
      dataCenterIds: listOf(z.string()),
      networkVolumes: listOf(z.string()),
      timeout: orUndefined(z.number()),
      flashboot: orUndefined(z.string()),
      createdAt: isoTimestamp,
    }),
  ),
);
export type V2EndpointRecord = z.output<typeof v2EndpointRecord>;

/** A release of an endpoint and its differences from the previous release. */
const v2Release = z.lazy(() =>
  z.looseObject({
    id: recordId,
    version: orUndefined(z.number()),
    createdAt: z.string(),
    /** Field names have the form `template.imageName`; the form of values is undocumented. */
    diff: z.array(z.looseObject({ field: z.string(), old: z.unknown(), new: z.unknown() })),
  }),
);
export type EndpointRelease = z.output<typeof v2Release>;

/** The first page of GET /serverless/{id}/releases, newest first; empty if it is unreadable. */
export const v2ReleasesRecord = z.lazy(() =>
  z.looseObject({ endpointVersion: orUndefined(z.number()), releases: listOf(v2Release).catch([]) }),
);
export type EndpointReleases = z.output<typeof v2ReleasesRecord>;

/** The workers of an endpoint and the version of new workers. */
export const v2Workers = z.lazy(() =>
  z.looseObject({ workers: listOf(workerRecord), endpointVersion: orUndefined(z.number()) }),
);

/** A GPU type of the catalog: memory in GB, prices in US dollars per hour; `pool` is null if serverless endpoints cannot use it. */
export const v2GpuRecord = z.lazy(() =>
  z.looseObject({
    id: recordId,
    name: orUndefined(z.string()),
    pool: orUndefined(z.string()),
    manufacturer: orUndefined(z.string()),
    memory: orUndefined(z.number()),
    /** `serverless` is present if the caller can use a serverless pool that contains the type. */
    price: orUndefined(z.looseObject({ serverless: orUndefined(z.number()) })),
    /** Present only if the request includes it. */
    availability: orUndefined(z.string()),
    dataCenters: orUndefined(z.array(z.looseObject({ id: recordId, availability: orUndefined(z.string()) }))),
  }),
);
export type V2GpuRecord = z.output<typeof v2GpuRecord>;

/** Limits of the account. The reference documents no fields; these are the local service's, and undefined for other services. */
export const v2AccountLimits = z.lazy(() => {
  const workers = z.looseObject({ limit: z.number().nullable(), used: z.number() });
  return z.looseObject({ serverlessWorkers: workers.optional().catch(undefined) });
});

/** A CPU flavour of the catalog; prices in US dollars per hour. */
export const v2CpuRecord = z.lazy(() =>
  z.looseObject({ id: recordId, price: orUndefined(z.looseObject({ serverlessPerVcpu: orUndefined(z.number()) })) }),
);

/** A data centre of the catalog. */
export const v2DataCenterRecord = z.lazy(() =>
  z.looseObject({
    id: recordId,
    name: orUndefined(z.string()),
    region: orUndefined(z.string()),
  }),
);
