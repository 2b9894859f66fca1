import { z } from "zod";
import type { Database } from "./database";

const row = z
  .object({
    id: z.string(),
    name: z.string(),
    size: z.number(),
    data_center_id: z.string(),
    created_at: z.number(),
  })
  .transform(({ data_center_id, created_at, ...rest }) => ({
    ...rest,
    dataCenterId: data_center_id,
    createdAt: created_at,
  }));

/** A network volume: size in GB, time in ms since the epoch. */
export type VolumeRow = z.output<typeof row>;

/** The table of network volumes. */
export interface VolumeStore {
  all(): VolumeRow[];
  get(id: string): VolumeRow | undefined;
  insert(volume: VolumeRow): void;
  update(volume: VolumeRow): void;
  remove(id: string): void;
}

export function createVolumeStore(database: Database): VolumeStore {
  const all = database.query("SELECT * FROM volumes ORDER BY rowid", row);
  const get = database.query("SELECT * FROM volumes WHERE id = ?", row);
  const insert = database.prepare(
    "INSERT INTO volumes (id, name, size, data_center_id, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const update = database.prepare("UPDATE volumes SET name = ?, size = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM volumes WHERE id = ?");
  return {
    all: () => all.all(),
    get: (id) => get.get(id),
    insert: ({ id, name, size, dataCenterId, createdAt }) => void insert.run(id, name, size, dataCenterId, createdAt),
    update: ({ id, name, size }) => void update.run(name, size, id),
    remove: (id) => void remove.run(id),
  };
}
