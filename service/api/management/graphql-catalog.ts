import { type cpuFlavors, type dataCenters, gpuTypes } from "serverless-compute-api/catalog";
import { countryOf, cudaVersionsOf, instanceOf, maxPerWorker, pricePerHour } from "../../resources/catalog";
import type { Stock } from "../../resources/stock";

/** The catalog as returned by GraphQL. */

/** Stock levels in GraphQL; null without stock. */
const statuses = { NONE: null, LOW: "Low", MEDIUM: "Medium", HIGH: "High" } as const;
type Level = Stock["level"];

/** Availability and pod prices; only prices of serverless workers are known, because there are no pods. */
const available = { secureCloud: true, communityCloud: true, securePrice: 0, communityPrice: 0 };

/** The input of a catalog field; each member can be null. */
type Input<Members> = { input?: { [Name in keyof Members]?: Members[Name] | null } | null };

/** A GPU type as returned by GraphQL. */
export const gpuTypeRecord = (type: (typeof gpuTypes)[number], level: Level) => ({
  ...type,
  ...available,
  secureSpotPrice: 0,
  communitySpotPrice: 0,
  maxGpuCount: maxPerWorker.gpus,
  lowestPrice({ input }: Input<{ gpuCount: number; dataCenterId: string; allowedCudaVersions: (string | null)[] }>) {
    const { gpuCount, dataCenterId, allowedCudaVersions } = input ?? {};
    const isLimited = allowedCudaVersions != null && allowedCudaVersions.length > 0;
    const versions = cudaVersionsOf(type).filter((version) => !isLimited || allowedCudaVersions.includes(version));
    const isAvailable = (gpuCount ?? 1) <= maxPerWorker.gpus && (!isLimited || versions.length > 0);
    const stockStatus = isAvailable ? statuses[level(type.id, dataCenterId ? [dataCenterId] : undefined)] : null;
    const availability = stockStatus === null ? "UNAVAILABLE" : "AVAILABLE";
    return {
      gpuName: type.displayName,
      gpuTypeId: type.id,
      stockStatus,
      minimumBidPrice: 0,
      uninterruptablePrice: pricePerHour(type.pool),
      gpuTypeCudaVersions: versions.map((cudaVersion) => ({ cudaVersion, availability })),
    };
  },
});

/** A CPU flavour as returned by GraphQL; the public price list has no prices for it. */
export const cpuFlavorRecord = (flavor: (typeof cpuFlavors)[number], level: Level) => ({
  ...flavor,
  displayName: flavor.groupName,
  groupId: flavor.id,
  minVcpu: 2,
  maxVcpu: maxPerWorker.vcpus,
  specifics({ input }: Input<{ dataCenterId: string; instanceId: string }>) {
    const { dataCenterId, instanceId } = input ?? {};
    const isAvailable = !instanceId || instanceOf(instanceId).vcpuCount <= maxPerWorker.vcpus;
    const dataCenterIds = dataCenterId ? [dataCenterId] : undefined;
    return { stockStatus: isAvailable ? statuses[level(flavor.id, dataCenterIds)] : null, securePrice: 0, slsPrice: 0 };
  },
});

const countries = new Intl.DisplayNames("en", { type: "region" });

/** A data centre as returned by GraphQL, without its GPU types. */
export const dataCenterRecord = (center: (typeof dataCenters)[number]) => ({
  ...center,
  name: center.id,
  location: countries.of(countryOf(center.id)),
  listed: true,
  storageSupport: true,
  globalNetwork: false,
  compliance: [],
});

/** GPU availability in a data centre. */
export const gpuAvailability = (dataCenterId: string, level: Level) =>
  gpuTypes.map(({ id, displayName }) => {
    const stockStatus = statuses[level(id, [dataCenterId])];
    return {
      gpuTypeId: id,
      displayName,
      gpuTypeDisplayName: displayName,
      available: stockStatus !== null,
      stockStatus,
    };
  });
