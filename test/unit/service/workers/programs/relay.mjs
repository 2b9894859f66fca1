import { createServer as createHealthServer } from "node:http";
import { connect, createServer } from "node:net";

// A healthy worker that relays the connections of its port, with their ends and resets, to the test's port.
const { PORT, PORT_HEALTH, TEST_PORT } = process.env;
const host = "127.0.0.1";

createHealthServer((_request, response) => response.end()).listen(PORT_HEALTH, host);
createServer({ allowHalfOpen: true }, (service) => {
  const test = connect({ port: TEST_PORT, host, allowHalfOpen: true, noDelay: true });
  for (const [from, to] of [
    [service, test],
    [test, service],
  ]) {
    from.on("error", () => to.resetAndDestroy());
    from.on("close", () => to.destroySoon());
    from.pipe(to);
  }
}).listen(PORT, host);
