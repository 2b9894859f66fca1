import type { IncomingMessage } from "node:http";

/** What is read of a body that is too large before its sender is cut off. */
const patience = { bytes: 256 * 1024 * 1024, ms: 10_000 };

/**
 * Reads the rest of a refused body to its end. A client that still sends when the connection closes sees a broken
 * connection instead of the answer that tells what is wrong.
 */
export function readAway(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off("data", count);
      resolve();
    };
    const count = (part: Buffer): void => {
      bytes += part.length;
      if (bytes > patience.bytes) done();
    };
    const timer = setTimeout(done, patience.ms);
    request.on("data", count).once("end", done).once("close", done);
    request.resume();
  });
}
