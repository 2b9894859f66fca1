import { cpuFlavorIds, dataCenterIds, gpuTypeIds, gpuTypes } from "serverless-compute-api/catalog";
import { instanceOf, requireListed } from "./catalog";
import { type EndpointContent, volumesOf } from "./endpoint-table";
import type { Volumes } from "./volumes";

/** Levels of stock, the lowest first. */
export const stockLevels = ["NONE", "LOW", "MEDIUM", "HIGH"] as const;
export type StockLevel = (typeof stockLevels)[number];

/** Levels by `ID` of a GPU type or a CPU flavour, or by `ID@DATACENTER`, which overrides it. Everything else is HIGH. */
export type StockEntries = Readonly<Record<string, StockLevel>>;

/** Throws a ServiceError for an entry that names no GPU type, CPU flavour, data centre or level. */
export function checkStock(entries: Readonly<Record<string, unknown>>): void {
  for (const [key, level] of Object.entries(entries)) {
    const [id = "", place] = key.split("@");
    requireListed("stock", [id], [...gpuTypeIds, ...cpuFlavorIds]);
    if (place !== undefined) requireListed("stock", [place], dataCenterIds);
    requireListed(`stock.${key}`, [level], stockLevels);
  }
}

/** The stock of the data centres, and whether it allows workers. */
export type Stock = ReturnType<typeof createStock>;

export function createStock(entries: StockEntries, volumes: Pick<Volumes, "find">) {
  const levelIn = (id: string, place: string): number =>
    stockLevels.indexOf(entries[`${id}@${place}`] ?? entries[id] ?? "HIGH");
  /** The highest level of a GPU type or CPU flavour in some data centres. */
  const level = (id: string, places: readonly string[] = dataCenterIds): StockLevel =>
    stockLevels[Math.max(0, ...places.map((place) => levelIn(id, place)))] ?? "NONE";

  return {
    level,
    /** Why no worker of an endpoint can start; undefined if one of its types is in stock where its workers may run. */
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
