import { randomBytes } from "node:crypto";
import { fields } from "../contract/outline.mjs";

/**
 * A kind of object created by the smoke test.
 * @typedef {{ kind: string, path: string, list: string, body: Record<string, unknown> }} Planned
 */

/** @param {unknown} value @returns {unknown[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/**
 * The minimal set of objects, in creation order. No worker can start, because the endpoint allows no workers.
 * @param {{ gpus: unknown, dataCenters: unknown, volume: boolean }} options Lists of the catalog, and whether to create
 * a volume.
 * @returns {Planned[]}
 */
export function plannedObjects({ gpus, dataCenters, volume }) {
  const name = `smoke-${randomBytes(5).toString("hex")}`;
  const pool = listOf(gpus).flatMap((gpu) => fields(gpu)["pool"] ?? [])[0];
  if (pool === undefined) throw new Error("catalog: no GPU type has a pool; check the key's permissions");
  const secret = { name: name.replaceAll("-", "_"), value: randomBytes(16).toString("hex"), description: "smoke test" };
  const scaling = { type: "QUEUE_DELAY", queueDelay: 4 };
  const plannedList = [
    { kind: "secret", path: "/account/secrets", list: "secrets", body: secret },
    {
      kind: "template",
      path: "/templates",
      list: "templates",
      body: { name, image: "alpine:3.20", serverless: true, disk: 5 },
    },
    {
      kind: "endpoint",
      path: "/serverless",
      list: "endpoints",
      body: {
        name,
        type: "QUEUE",
        scaling,
        image: "alpine:3.20",
        gpu: { pools: [pool] },
        workers: { min: 0, max: 0 },
        timeout: 60_000,
      },
    },
  ];
  return volume
    ? [
        { kind: "volume", path: "/network-volumes", list: "networkVolumes", body: volumeBody(name, dataCenters) },
        ...plannedList,
      ]
    : plannedList;
}

/**
 * @param {string} name
 * @param {unknown} dataCenters
 */
function volumeBody(name, dataCenters) {
  const dataCenter = listOf(dataCenters).find(
    (candidate) => listOf(fields(candidate)["networkVolumeTypes"]).length > 0,
  );
  if (!dataCenter) throw new Error("catalog: no data centre has network volumes; run without --volume");
  return { name, size: 10, dataCenter: fields(dataCenter)["id"] };
}
