import { createServer, type Socket } from "node:net";
import type { ServiceOptions } from "serverless-compute-local";
import { expect, onTestFinished } from "vitest";
import { at } from "../../../../support/raw-http";
import type { Step } from "./http-bytes";
import { useLoadBalancer } from "./load-balancer";
import { program } from "./programs";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs the steps of a connection while it is open. */
export async function runSteps(socket: Socket, steps: Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (step === "turn") await turn();
    else if (step === "end") socket.end();
    else if (step === "reset") socket.resetAndDestroy();
    else socket.write(step);
  }
}

/** A load balancing endpoint whose worker relays its connections to `connected`. */
export async function useRelayedWorker(connected: (socket: Socket) => void, options: ServiceOptions = {}) {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const env = { PORT: "8000", PORT_HEALTH: "8001", TEST_PORT: String(at(server.address(), "port")) };
  const images = { "acme/server": program("relay.mjs") };
  const balancer = await useLoadBalancer({ env, workers: { min: 1, max: 1 } }, {}, { images, ...options });
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
  return { ...balancer, open };
}
