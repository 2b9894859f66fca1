import { cpuFlavorIds, dataCenterIds, gpuTypeIds, gpuTypes } from "serverless-compute-api/catalog";
import { instanceOf, requireListed } from "./catalog";
import { type EndpointContent, volumesOf } from "./endpoint-table";
import type { Volumes } from "./volumes";

/** Stock levels, lowest first. */
export const stockLevels = ["NONE", "LOW", "MEDIUM", "HIGH"] as const;
export type StockLevel = (typeof stockLevels)[number];

/** Stock levels by `ID` of a GPU type or CPU flavour, or by `ID@DATACENTER`, which overrides `ID`. The default is HIGH. */
export type StockEntries = Readonly<Record<string, StockLevel>>;

/** Throws a ServiceError for an entry with an unknown GPU type, CPU flavour, data centre or level. */
export function checkStock(entries: Readonly<Record<string, unknown>>): void {
  for (const [key, level] of Object.entries(entries)) {
    const [id = "", place] = key.split("@");
    requireListed("stock", [id], [...gpuTypeIds, ...cpuFlavorIds]);
    if (place !== undefined) requireListed("stock", [place], dataCenterIds);
    requireListed(`stock.${key}`, [level], stockLevels);
  }
}

/** The stock of the data centres. */
export type Stock = ReturnType<typeof createStock>;

export function createStock(entries: StockEntries, volumes: Pick<Volumes, "find">) {
  const levelIn = (id: string, place: string): number =>
    stockLevels.indexOf(entries[`${id}@${place}`] ?? entries[id] ?? "HIGH");
  /** The highest stock level of a GPU type or CPU flavour in some data centres. */
  const level = (id: string, places: readonly string[] = dataCenterIds): StockLevel =>
    stockLevels[Math.max(0, ...places.map((place) => levelIn(id, place)))] ?? "NONE";

  return {
    level,
    /** The lack of stock that prevents the start of workers; undefined if one of the endpoint's types is in stock in its data centres. */
    lack(endpoint: EndpointContent): string | undefined {
      const { computeType, instanceIds, gpuTypeIds, dataCenterIds } = endpoint;
      const ofVolumes = volumesOf(endpoint).flatMap((id) => volumes.find(id)?.dataCenterId ?? []);
      const places = ofVolumes.length > 0 ? ofVolumes : dataCenterIds.length > 0 ? dataCenterIds : undefined;
      const flavors = instanceIds.map((id) => instanceOf(id).flavor);
      const any = gpuTypes.flatMap(({ id, pool }) => (pool === undefined ? [] : id));
      const types = computeType === "CPU" ? flavors : gpuTypeIds.length > 0 ? gpuTypeIds : any;
      if (types.some((id) => level(id, places) !== "NONE")) return undefined;
      const where = places ? ` in ${places.join(", ")}` : "";
      return `no stock of ${types === any ? "any GPU type" : types.join(", ")}${where}, so no worker starts`;
    },
  };
}
