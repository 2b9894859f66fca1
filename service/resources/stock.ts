import { cpuFlavorIds, dataCenterIds, gpuTypeIds, gpuTypes } from "serverless-compute-api/catalog";
import { instanceOf, requireListed } from "./catalog";
import { type EndpointContent, volumesOf } from "./endpoint-table";
import type { Volumes } from "./volumes";

/** Stock levels, lowest first. */
export const stockLevels = ["NONE", "LOW", "MEDIUM", "HIGH"] as const;
type StockLevel = (typeof stockLevels)[number];

/** Stock levels by `ID` of a GPU type or CPU flavour, or by `ID@DATACENTER`, which overrides `ID`. The default is HIGH. */
export type StockEntries = Readonly<Record<string, StockLevel>>;

/** Throws a ServiceError for an entry with an unknown GPU type, CPU flavour or data centre. */
export function checkStock(entries: StockEntries): void {
  for (const key of Object.keys(entries)) {
    const [id = "", ...dataCenter] = key.split("@");
    requireListed("stock", [id], [...gpuTypeIds, ...cpuFlavorIds]);
    if (dataCenter.length > 0) requireListed("stock", [dataCenter.join("@")], dataCenterIds);
  }
}

/** The stock of the data centres. */
export type Stock = ReturnType<typeof createStock>;

export function createStock(entries: StockEntries, volumes: Pick<Volumes, "find">) {
  const levelAt = (id: string, dataCenterId: string): number =>
    stockLevels.indexOf(entries[`${id}@${dataCenterId}`] ?? entries[id] ?? "HIGH");
  /** The highest stock level of a GPU type or CPU flavour in some data centres. */
  const level = (id: string, centers: readonly string[] = dataCenterIds): StockLevel =>
    stockLevels[Math.max(0, ...centers.map((dataCenterId) => levelAt(id, dataCenterId)))] ?? "NONE";

  return {
    level,
    /** The lack of stock that prevents the start of workers; undefined if one of the endpoint's types is in stock in its data centres. */
    lackOfStock(endpoint: EndpointContent): string | undefined {
      const { computeType, instanceIds, gpuTypeIds, dataCenterIds } = endpoint;
      const volumeDataCenterIds = volumesOf(endpoint).flatMap((id) => volumes.find(id)?.dataCenterId ?? []);
      const searchedCenters =
        volumeDataCenterIds.length > 0 ? volumeDataCenterIds : dataCenterIds.length > 0 ? dataCenterIds : undefined;
      const flavors = instanceIds.map((id) => instanceOf(id).flavor);
      const pooledTypes = gpuTypes.flatMap(({ id, pool }) => (pool === undefined ? [] : id));
      const types = computeType === "CPU" ? flavors : gpuTypeIds.length > 0 ? gpuTypeIds : pooledTypes;
      if (types.some((id) => level(id, searchedCenters) !== "NONE")) return undefined;
      const location = searchedCenters ? ` in ${searchedCenters.join(", ")}` : "";
      return `no stock of ${types === pooledTypes ? "any GPU type" : types.join(", ")}${location}, so no worker starts`;
    },
  };
}
