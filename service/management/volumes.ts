import type { Clock } from "serverless-compute-api/clock";
import { restNetworkVolumeCreate, restNetworkVolumePatch } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, notFoundOnDelete, ServiceError } from "../errors";
import type { Database } from "../store/database";
import type { EndpointStore } from "../store/endpoints";
import type { VolumeRow, VolumeStore } from "../store/volumes";
import { parseInput } from "../validation";
import { newId } from "./ids";

/** The data centre is no part of a change; it is read to refuse one. */
const volumeChange = restNetworkVolumePatch.extend({ dataCenterId: z.string().optional() });

/** Rules of network volumes. Bodies are as clients sent them. */
export interface Volumes {
  list(): VolumeRow[];
  get(id: string): VolumeRow;
  create(body: unknown): VolumeRow;
  /** Sizes only grow, and a volume stays in its data centre. */
  update(id: string, body: unknown): VolumeRow;
  /** Refused while an endpoint uses it. */
  remove(id: string): void;
}

export function createVolumes(deps: {
  database: Database;
  clock: Clock;
  volumes: VolumeStore;
  endpoints: EndpointStore;
}): Volumes {
  const { database, clock, volumes, endpoints } = deps;

  const get = (id: string): VolumeRow => {
    const found = volumes.get(id);
    if (!found) throw notFound("network volume", id);
    return found;
  };

  return {
    list: () => volumes.all(),
    get,
    create: (body) => {
      const volume = { id: newId("volume"), createdAt: clock.now(), ...parseInput(restNetworkVolumeCreate, body) };
      volumes.insert(volume);
      return volume;
    },
    update: (id, body) =>
      database.transaction(() => {
        const current = get(id);
        const { name, size, dataCenterId } = parseInput(volumeChange, body);
        if (size !== undefined && size < current.size) {
          throw new ServiceError(
            "invalid",
            `size: ${size} is not allowed, a volume only grows: must be ${current.size} or more`,
          );
        }
        if (dataCenterId !== undefined && dataCenterId !== current.dataCenterId) {
          throw new ServiceError(
            "invalid",
            `dataCenterId: "${dataCenterId}" is not allowed, a volume stays where it is: must be "${current.dataCenterId}"`,
          );
        }
        const next = { ...current, name: name ?? current.name, size: size ?? current.size };
        volumes.update(next);
        return next;
      }),
    remove: (id) =>
      database.transaction(() => {
        const found = volumes.get(id);
        if (!found) throw notFoundOnDelete("network volume", id);
        const [user] = endpoints.byVolume(id);
        if (user) {
          throw new ServiceError(
            "inUse",
            `network volume "${found.name}" is in use by endpoint "${user.name}" (${user.id}): delete that endpoint or take the volume from it first`,
          );
        }
        volumes.remove(id);
      }),
  };
}
