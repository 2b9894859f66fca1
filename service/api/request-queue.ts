import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";

/** Requests that begin in one turn of the event loop. */
const slice = 64;

/** How long requests wait while every turn brings a connection, ms; then each turn begins one of them. */
const patience = 250;

/**
 * An HTTP server that accepts connections before it begins requests. Node accepts one connection in each turn of its event
 * loop, however many wait, and begins every request that is there in the same turn: of a burst of connections, the last ones
 * would wait until the first ones have nothing more to ask. So requests wait, in their order, as long as each turn brings
 * another connection.
 */
export function createQueueingServer(options: ServerOptions, begin: RequestListener): Server {
  const waiting: { since: number; args: Parameters<RequestListener> }[] = [];
  let isAccepting = false;
  let isScheduled = false;

  function turn(): void {
    const [first] = waiting;
    const isHeld = isAccepting && first && performance.now() - first.since < patience;
    const batch = isHeld ? [] : waiting.splice(0, isAccepting ? 1 : slice);
    isScheduled = isAccepting || waiting.length > 0;
    isAccepting = false;
    if (isScheduled) setImmediate(turn);
    // Whoever has left reads no response, and that it left is not said again.
    for (const { args } of batch) if (!args[0].destroyed) begin(...args);
  }

  return createServer(options, (...args) => {
    if (!isAccepting && waiting.length === 0) begin(...args);
    else waiting.push({ since: performance.now(), args });
  }).on("connection", () => {
    isAccepting = true;
    if (!isScheduled) setImmediate(turn);
    isScheduled = true;
  });
}
