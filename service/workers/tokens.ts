import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type Database, readStore } from "../store/database";

const tokenRow = z.object({ id: z.string(), token: z.string() });

/**
 * Tokens that authenticate workers, one per endpoint. A token grants access only to that endpoint's worker channel. Tokens are stored, so
 * that external workers can continue after a restart of the service.
 */
export function createWorkerTokens(database: Database) {
  const stored = database.query(
    "SELECT endpoint_id AS id, token, used_elsewhere AS usedElsewhere FROM worker_tokens",
    tokenRow.extend({ usedElsewhere: z.number() }),
  );
  const insert = database.prepare("INSERT INTO worker_tokens (endpoint_id, token) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM worker_tokens WHERE endpoint_id = ?");
  const markExternal = database.prepare("UPDATE worker_tokens SET used_elsewhere = 1 WHERE endpoint_id = ?");

  const rows = new Map(stored.all().map((row) => [row.id, row]));
  // Each write precedes the change in memory, so that the next call repeats a failed write.
  return {
    /** The endpoint's token, created by the first call. */
    tokenOf(endpointId: string): string {
      const existing = rows.get(endpointId);
      if (existing) return existing.token;
      const token = randomBytes(24).toString("hex");
      insert.run(endpointId, token);
      rows.set(endpointId, { id: endpointId, token, usedElsewhere: 0 });
      return token;
    },
    /** Records that an external worker used the endpoint's token. */
    recordExternalUse(endpointId: string): void {
      const row = rows.get(endpointId);
      if (!row || row.usedElsewhere === 1) return;
      markExternal.run(endpointId);
      row.usedElsewhere = 1;
    },
    /** Returns whether an external worker has ever used the endpoint's token. */
    isUsedExternally: (endpointId: string): boolean => rows.get(endpointId)?.usedElsewhere === 1,
    /** Ids of endpoints with a token. */
    endpoints: (): string[] => [...rows.keys()],
    remove(endpointId: string): void {
      remove.run(endpointId);
      rows.delete(endpointId);
    },
  };
}

/** Reads an endpoint's token from a data folder, even while a service runs on it. */
export const readWorkerToken = (dataFolder: string, endpointId: string): string | undefined =>
  readStore(dataFolder, "SELECT endpoint_id AS id, token FROM worker_tokens", tokenRow)?.find(
    ({ id }) => id === endpointId,
  )?.token;
