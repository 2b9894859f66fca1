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

  const rows = stored.all();
  const tokens = new Map(rows.map(({ id, token }) => [id, token]));
  const external = new Set(rows.filter(({ usedElsewhere }) => usedElsewhere === 1).map(({ id }) => id));
  // Each write precedes the change in memory, so that the next call repeats a failed write.
  return {
    /** The endpoint's token, created by the first call. */
    tokenOf(endpointId: string): string {
      const existing = tokens.get(endpointId);
      if (existing !== undefined) return existing;
      const token = randomBytes(24).toString("hex");
      insert.run(endpointId, token);
      tokens.set(endpointId, token);
      return token;
    },
    /** Records that an external worker used the endpoint's token. */
    recordExternalUse(endpointId: string): void {
      if (external.has(endpointId)) return;
      markExternal.run(endpointId);
      external.add(endpointId);
    },
    /** Returns whether an external worker has ever used the endpoint's token. */
    isUsedExternally: (endpointId: string): boolean => external.has(endpointId),
    /** Ids of endpoints with a token. */
    endpoints: (): string[] => [...tokens.keys()],
    remove(endpointId: string): void {
      remove.run(endpointId);
      tokens.delete(endpointId);
      external.delete(endpointId);
    },
  };
}

/** Reads an endpoint's token from a data folder, even while a service runs on it. */
export const readWorkerToken = (dataFolder: string, endpointId: string): string | undefined =>
  readStore(dataFolder, "SELECT endpoint_id AS id, token FROM worker_tokens", tokenRow)?.find(
    ({ id }) => id === endpointId,
  )?.token;
