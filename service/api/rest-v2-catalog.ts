import { cpuFlavors, dataCenters, gpuTypes, pricePerHour } from "../resources/catalog";

/** What REST v2 shows of the catalog. */

/** The GPU types of the catalog, with the hosted service's prices; everything is available. */
export const gpuRecords = ({ serverless, availability }: { serverless: boolean; availability: boolean }) =>
  gpuTypes
    .filter(({ pool }) => !serverless || pool !== undefined)
    .map(({ id, displayName, memoryInGb, manufacturer, pool = null }) => ({
      ...{ id, name: displayName, pool, manufacturer, memory: memoryInGb },
      ...{ secure: true, community: true, price: pricePerHour(pool ?? undefined), maxCount: 8 },
      ...(availability && { availability: "HIGH", dataCenters: dataCenters.map((center) => center.id) }),
    }));

/** The CPU flavours of the catalog; memory in GB for each virtual CPU. Their prices are not in the public list. */
export const cpuRecords = cpuFlavors.map(({ id, groupName, ramMultiplier }) => ({
  ...{ id, name: groupName, minVcpu: 2, maxVcpu: 32, memoryPerVcpu: ramMultiplier, price: null },
}));

/** The data centres of the catalog. */
export const dataCenterRecords = dataCenters.map(({ id, region }) => ({
  id,
  name: id,
  region,
  networkVolumeTypes: ["STANDARD", "HIGH_PERFORMANCE"],
  compliance: [],
  globalNetwork: false,
}));
