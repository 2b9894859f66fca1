import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { SteadyClock } from "../steady-clock";

/** Lifetime of a console link, ms. */
export const linkLifetime = 60 * 60 * 1000;

/** Lifetime of a session, ms. */
export const sessionLifetime = 7 * 24 * 60 * 60 * 1000;

/** Maximum number of unused links; a new link replaces the oldest. */
const maxLinks = 100;

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/**
 * Single-use links to the console and the sessions that they are exchanged for. Sessions are signed with a key derived from
 * the API key. They are not stored, survive a restart of the service, and end when the data folder gets another API key.
 */
export function createConsoleSessions(apiKey: string, clock: SteadyClock) {
  const key = createHmac("sha256", apiKey).update("sessions of the console").digest();
  const sign = (content: string): Buffer => createHmac("sha256", key).update(content).digest();
  /** Hashes of the tokens of links, the oldest first, with the times when they expire. */
  const links = new Map<string, number>();

  /** A new session. */
  function start(): string {
    const content = `${(clock.system.now() + sessionLifetime).toString(36)}.${randomBytes(16).toString("base64url")}`;
    return `${content}.${sign(content).toString("base64url")}`;
  }

  return {
    start,
    /** Token of a new link. Only its hash is kept, in memory. */
    newLink(): string {
      const token = randomBytes(32).toString("base64url");
      links.set(hashOf(token), clock.now() + linkLifetime);
      for (const oldest of links.keys()) if (links.size > maxLinks) links.delete(oldest);
      return token;
    },
    /** Exchanges a link's token for a session; undefined when the link was used before, has expired or is unknown. */
    open(token: string): string | undefined {
      const hash = hashOf(token);
      const expiresAt = links.get(hash);
      links.delete(hash);
      if (expiresAt === undefined || expiresAt <= clock.now()) return undefined;
      return start();
    },
    /** Returns true if a session is one of this service and has not expired. */
    isOpen(session = ""): boolean {
      const [, content, expiry, signature] = /^(([0-9a-z]{1,12})\.[\w-]{22})\.([\w-]{43})$/.exec(session) ?? [];
      if (content === undefined || expiry === undefined || signature === undefined) return false;
      return (
        timingSafeEqual(sign(content), Buffer.from(signature, "base64url")) && parseInt(expiry, 36) > clock.system.now()
      );
    },
  };
}
