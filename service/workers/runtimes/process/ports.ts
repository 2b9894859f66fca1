import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { loopback, type ServerPorts } from "../../worker-server";

/**
 * Port range for workers that run as processes on this machine. Operating systems use higher ranges for outgoing connections, so no
 * connection occupies a port between its selection and the start of the worker's server.
 */
const range = { first: 20_000, count: 10_000 };

/** Maximum number of attempts to find a free port. */
const attempts = 100;

/** Selects free ports for workers that run as processes on this machine, because they cannot share the template's `PORT`. */
export function createPorts() {
  let next = randomInt(range.count);
  let reservedPorts: Pick<ServerPorts, "port" | "healthPort"> | undefined;

  async function findPort(): Promise<number> {
    for (let remaining = attempts; ; remaining--) {
      const port = range.first + (next++ % range.count);
      // If the last port is in use, the worker reports it.
      if ((await isFree(port)) || remaining === 0) return port;
    }
  }

  return {
    /**
     * Replaces the ports of one worker's server by free ones; one port stays one port. Undefined until the promise of `reserve` has
     * resolved.
     */
    claim(requested: ServerPorts): ServerPorts | undefined {
      if (!reservedPorts) return undefined;
      const { port, healthPort } = reservedPorts;
      reservedPorts = undefined;
      return { ...requested, port, healthPort: requested.healthPort === requested.port ? port : healthPort };
    },
    async reserve(): Promise<void> {
      reservedPorts ??= { port: await findPort(), healthPort: await findPort() };
    },
  };
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
