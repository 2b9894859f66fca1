import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type Database, readStore } from "../store/database";

const endpointRow = z.object({ id: z.string() });

/**
 * Tokens that authenticate workers, one per endpoint. A token grants access only to that endpoint's worker channel. Tokens are stored, so
 * that external workers can continue after a restart of the service.
 */
export function createWorkerTokens(database: Database) {
  const read = database.query("SELECT token FROM worker_tokens WHERE endpoint_id = ?", z.object({ token: z.string() }));
  const insert = database.prepare("INSERT INTO worker_tokens (endpoint_id, token) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM worker_tokens WHERE endpoint_id = ?");
  const markExternal = database.prepare("UPDATE worker_tokens SET used_elsewhere = 1 WHERE endpoint_id = ?");
  const externalEndpoints = database.query(
    "SELECT endpoint_id AS id FROM worker_tokens WHERE used_elsewhere = 1",
    endpointRow,
  );
  const allEndpoints = database.query("SELECT endpoint_id AS id FROM worker_tokens", endpointRow);

  const cached = new Map<string, string>();
  const external = new Set(externalEndpoints.all().map(({ id }) => id));
  return {
    /** The endpoint's token, created by the first call. */
    tokenOf(endpointId: string): string {
      const token = cached.get(endpointId) ?? read.get(endpointId)?.token ?? create(endpointId);
      cached.set(endpointId, token);
      return token;
    },
    /** Records that an external worker used the endpoint's token. */
    recordExternalUse(endpointId: string): void {
      if (external.has(endpointId)) return;
      // Before the cache, so that the next call repeats a failed write.
      markExternal.run(endpointId);
      external.add(endpointId);
    },
    /** Returns whether an external worker has ever used the endpoint's token. */
    isUsedExternally: (endpointId: string): boolean => external.has(endpointId),
    /** Ids of endpoints with a token. */
    endpoints: (): string[] => allEndpoints.all().map(({ id }) => id),
    remove(endpointId: string): void {
      cached.delete(endpointId);
      external.delete(endpointId);
      remove.run(endpointId);
    },
  };

  function create(endpointId: string): string {
    const token = randomBytes(24).toString("hex");
    insert.run(endpointId, token);
    return token;
  }
}

/** Reads an endpoint's token from a data folder, even while a service runs on it. */
export const readWorkerToken = (dataFolder: string, endpointId: string): string | undefined =>
  readStore(
    dataFolder,
    "SELECT endpoint_id AS id, token FROM worker_tokens",
    z.object({ id: z.string(), token: z.string() }),
  )?.find(({ id }) => id === endpointId)?.token;
