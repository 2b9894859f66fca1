import { z } from "zod";
import { type Database, lookIntoStore } from "./database";

/** The table of the tokens with which an endpoint's workers sign in; kept, so that workers elsewhere survive a restart. */
export interface WorkerTokenStore {
  read(endpointId: string): string | undefined;
  insert(endpointId: string, token: string): void;
  remove(endpointId: string): void;
  /** Notes that a worker elsewhere used the endpoint's token. */
  noteElsewhere(endpointId: string): void;
  /** Ids of endpoints whose token a worker elsewhere used. */
  usedElsewhere(): string[];
  endpoints(): string[];
}

export function createWorkerTokenStore(database: Database): WorkerTokenStore {
  const read = database.query("SELECT token FROM worker_tokens WHERE endpoint_id = ?", z.object({ token: z.string() }));
  const insert = database.prepare("INSERT INTO worker_tokens (endpoint_id, token) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM worker_tokens WHERE endpoint_id = ?");
  const noteElsewhere = database.prepare("UPDATE worker_tokens SET used_elsewhere = 1 WHERE endpoint_id = ?");
  const elsewhere = database.query(
    "SELECT endpoint_id AS id FROM worker_tokens WHERE used_elsewhere = 1",
    z.object({ id: z.string() }),
  );
  const all = database.query("SELECT endpoint_id AS id FROM worker_tokens", z.object({ id: z.string() }));
  return {
    read: (endpointId) => read.get(endpointId)?.token,
    insert: (endpointId, token) => void insert.run(endpointId, token),
    remove: (endpointId) => void remove.run(endpointId),
    noteElsewhere: (endpointId) => void noteElsewhere.run(endpointId),
    usedElsewhere: () => elsewhere.all().map(({ id }) => id),
    endpoints: () => all.all().map(({ id }) => id),
  };
}

/** The token of an endpoint of a data folder, read beside the service that may run there. */
export const lookUpWorkerToken = (dataFolder: string, endpointId: string): string | undefined =>
  lookIntoStore(
    dataFolder,
    "SELECT endpoint_id AS id, token FROM worker_tokens",
    z.object({ id: z.string(), token: z.string() }),
  )?.find(({ id }) => id === endpointId)?.token;
