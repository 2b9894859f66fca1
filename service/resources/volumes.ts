import { dataCenterIds } from "serverless-compute-api/catalog";
import { restNetworkVolumePatch } from "serverless-compute-api/shapes";
import { z } from "zod";
import { invalidProperty, ServiceError } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { requireListed } from "./catalog";
import type { EndpointTable } from "./endpoint-table";
import { openTable } from "./table";

const row = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number(),
  dataCenterId: z.string(),
  type: z.enum(["STANDARD", "HIGH_PERFORMANCE"]),
  createdAt: z.number(),
});

/** A network volume; size in GB, time in ms since the epoch. */
export type VolumeRow = z.output<typeof row>;

/** Properties of a new volume, validated by the API. */
type NewVolume = Pick<VolumeRow, "name" | "size" | "dataCenterId"> & { type?: VolumeRow["type"] | undefined };

/** A change by REST v1 or GraphQL. `dataCenterId` is parsed only to reject a different data centre. */
export const volumeChange = restNetworkVolumePatch.extend({ dataCenterId: z.string().optional() });
type VolumeChange = z.output<typeof volumeChange>;

/** Network volumes and their rules. */
export type Volumes = ReturnType<typeof createVolumes>;

export function createVolumes(deps: { database: Database; clock: SystemClock; endpoints: EndpointTable }) {
  const { database, clock, endpoints } = deps;
  const columns = "id, name, size, data_center_id AS dataCenterId, type, created_at AS createdAt";
  const table = openTable(database, { name: "volumes", noun: "network volume", columns, row, idLength: 10 });
  const insert = database.prepare(
    "INSERT INTO volumes (id, name, size, data_center_id, type, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const write = database.prepare("UPDATE volumes SET name = ?, size = ? WHERE id = ?");

  return {
    list: table.list,
    newest: table.newest,
    get: table.get,
    find: table.find,
    create: ({ type = "STANDARD", ...values }: NewVolume): VolumeRow => {
      requireListed("dataCenterId", [values.dataCenterId], dataCenterIds, "volume");
      const volume = { id: table.newId(), ...values, type, createdAt: clock.now() };
      insert.run(volume.id, volume.name, volume.size, volume.dataCenterId, type, volume.createdAt);
      return volume;
    },
    /** Updates a volume; its size can only grow, and its data centre cannot change. */
    update: (id: string, change: VolumeChange): VolumeRow =>
      database.transaction(() => {
        const current = table.get(id);
        const { name = current.name, size = current.size, dataCenterId } = change;
        if (size < current.size) {
          throw invalidProperty(
            "size",
            `${size} is not allowed; must be ${current.size} or more; volumes cannot shrink`,
            "volume",
          );
        }
        if (dataCenterId !== undefined && dataCenterId !== current.dataCenterId) {
          throw invalidProperty(
            "dataCenterId",
            `"${dataCenterId}" is not allowed; must be "${current.dataCenterId}"; volumes cannot be moved`,
            "volume",
          );
        }
        write.run(name, size, id);
        return { ...current, name, size };
      }),
    /** Deletes a volume; throws while an endpoint uses it. */
    remove: (id: string): void =>
      database.transaction(() => {
        table.remove(id, ({ name }) => {
          const [user] = endpoints.byVolume(id);
          if (!user) return;
          throw new ServiceError(
            "inUse",
            `network volume "${name}" is in use by endpoint "${user.name}" (${user.id}); delete that endpoint or detach the volume first`,
          );
        });
        database.afterCommit(() => endpoints.events.emit("volumeDeleted", id));
      }),
  };
}
