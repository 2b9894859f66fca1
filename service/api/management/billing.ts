import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { ServiceError } from "../../errors";
import type { SystemClock } from "../../steady-clock";
import { parseV2, queryInteger } from "../../validation";
import { isoTime } from "../responses";

/** A billing list: its amounts besides `totalAmount`, the filter by object id, and the field with the number of objects. */
interface BillingList {
  amounts: readonly string[];
  filter?: string;
  count?: string;
}

const billingLists: Record<string, BillingList> = {
  "/billing": {
    amounts: [
      "podGpuAmount",
      "podCpuAmount",
      "podDiskAmount",
      "serverlessGpuAmount",
      "serverlessCpuAmount",
      "serverlessDiskAmount",
      "serverlessFeeAmount",
      "storageStandardAmount",
      "storageHighPerformanceAmount",
      "endpointAmount",
      "clusterGpuAmount",
      "clusterDiskAmount",
      "clusterNetworkingAmount",
    ],
  },
  "/billing/pods": { amounts: ["gpuAmount", "cpuAmount", "diskAmount"], filter: "podId", count: "uniquePodCount" },
  "/billing/serverless": {
    amounts: ["gpuAmount", "cpuAmount", "diskAmount", "feeAmount"],
    filter: "serverlessId",
    count: "uniqueServerlessCount",
  },
  "/billing/endpoints": { amounts: [] },
  "/billing/network-volumes": {
    amounts: ["standardAmount", "highPerformanceAmount"],
    filter: "networkVolumeId",
    count: "uniqueNetworkVolumeCount",
  },
  "/billing/clusters": {
    amounts: ["gpuAmount", "diskAmount", "networkingAmount"],
    filter: "clusterId",
    count: "uniqueClusterCount",
  },
};

const bucketSizes = ["hour", "day", "week", "month", "year"] as const;
type BucketSize = (typeof bucketSizes)[number];

/** Latest time of a window, ms: the last year with four digits. */
const maxTime = Date.UTC(9999, 0);
const clampTime = (ms: number): number => Math.min(Math.max(ms, 0), maxTime);

const instant = z.iso.datetime({ offset: true }).transform((text) => clampTime(Date.parse(text)));
const windowQuery = z.looseObject({
  startTime: instant.optional(),
  endTime: instant.optional(),
  bucketSize: z.enum(bucketSizes).default("day"),
  lastN: queryInteger(1, Number.MAX_SAFE_INTEGER)
    .transform((buckets) => Math.min(buckets, 100_000))
    .optional(),
});

/** Start of the bucket that contains a time, moved by `offset` buckets, ms in UTC. Weeks start on Monday. */
function bucketStart(ms: number, size: BucketSize, offset = 0): number {
  const time = new Date(ms);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  switch (size) {
    case "hour":
      return Date.UTC(year, month, day, time.getUTCHours() + offset);
    case "day":
      return Date.UTC(year, month, day + offset);
    case "week":
      return Date.UTC(year, month, day - ((time.getUTCDay() + 6) % 7) + 7 * offset);
    case "month":
      return Date.UTC(year, month + offset);
    case "year":
      return Date.UTC(year + offset, 0);
  }
}

const defaultWindow = 30 * 86_400_000;
const timeText = (ms: number): string => isoTime(clampTime(ms));

/** The window of a query, extended to whole buckets, as returned in the response. */
function windowOf({ startTime, endTime, bucketSize, lastN }: z.output<typeof windowQuery>, now: number) {
  if (lastN !== undefined && (startTime ?? endTime) !== undefined)
    throw new ServiceError("invalid", "lastN: cannot be combined with startTime and endTime");
  const end = endTime ?? now;
  const isBoundary = bucketStart(end, bucketSize) === end && lastN === undefined;
  return {
    startTime: timeText(
      lastN === undefined
        ? bucketStart(startTime ?? now - defaultWindow, bucketSize)
        : bucketStart(now, bucketSize, 1 - lastN),
    ),
    endTime: timeText(isBoundary ? end : bucketStart(end, bucketSize, 1)),
    bucketSize,
  };
}

/** The billing routes of REST v2; all lists are empty, because the local service is free. */
export function registerBillingRoutes(app: FastifyInstance, clock: SystemClock): void {
  for (const [path, { amounts, filter, count }] of Object.entries(billingLists))
    app.get(path, async ({ query }) => {
      const windowParameters = parseV2(windowQuery, query);
      const id = filter === undefined ? undefined : windowParameters[filter];
      const filterParameters = filter === undefined ? {} : { [filter]: typeof id === "string" ? id : null };
      return {
        records: [],
        metadata: {
          query: { ...windowOf(windowParameters, clock.now()), ...filterParameters },
          recordCount: 0,
          ...(count !== undefined && { [count]: 0 }),
          totals: Object.fromEntries(["totalAmount", ...amounts].map((amount) => [amount, 0])),
        },
      };
    });
}
