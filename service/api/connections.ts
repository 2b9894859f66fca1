import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Returns the open responses of a connection, in the order of their requests. */
export type OpenResponses = (connection: Duplex) => ServerResponse[];

/**
 * Handles the errors and ends of a server's connections. An error ends its connection, and all open responses of a connection are closed
 * with it. Node has no error handler on an upgraded connection, and does not close a response behind another one (pipelining).
 */
export function watchConnections(server: Server): OpenResponses {
  const responses = new WeakMap<Duplex, ServerResponse[]>();
  const openResponses: OpenResponses = (connection) =>
    (responses.get(connection) ?? []).filter(({ destroyed }) => !destroyed);
  server.on("request", ({ socket }, response) => responses.set(socket, [...openResponses(socket), response]));
  server.on("connection", (connection) => {
    // A connection is served again after an upgrade that was ignored.
    if (responses.has(connection)) return;
    responses.set(connection, []);
    connection.on("error", () => undefined);
    connection.once("close", () => {
      for (const response of openResponses(connection)) {
        // Node closes the response that has the connection.
        if (response.socket === null) response.destroy().emit("close");
      }
    });
  });
  return openResponses;
}
