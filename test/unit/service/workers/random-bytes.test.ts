import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readWorkerToken } from "../../../../service/workers/tokens";
import { apiKey } from "../../../support/local-service";
import { randomFrom } from "../../../support/random";
import { clientSteps, type Step, workerSteps } from "./support/http-bytes";
import { runSteps, useRelayedWorker } from "./support/relayed-worker";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 1_800_000 });

/** Seeds of the sequences; BYTES_SEED=n replays one sequence. */
const replayed = process.env["BYTES_SEED"];
const firstSeed = Number(replayed ?? 1);
const lastSeed = replayed ? firstSeed : Number(process.env["BYTES_LAST"] ?? (process.env["FULL"] ? 3000 : 200));

const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));

/** The steps of a worker that serves a request. */
const plainSteps: Step[] = [Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")];

test(`random bytes of clients and workers affect only their own connections (seeds ${firstSeed} to ${lastSeed})`, async () => {
  let nextSteps = (): Step[] => plainSteps;
  const balancer = await useRelayedWorker(
    (socket) => {
      const steps = nextSteps();
      const start = (): void => void runSteps(socket, steps);
      // Most workers respond after the first bytes of a request, some before.
      if (steps.length % 5 === 0) start();
      else socket.once("data", start);
      socket.resume();
    },
    { logLevel: "info" },
  );
  const { rig, url } = balancer;
  const queue = await rig.jobsOn("elsewhere", { workersMax: 0 });
  const { host, port, pathname } = new URL(url);
  const token = readWorkerToken(rig.dataFolder, queue.id) ?? "";
  const addresses = { host, balancer: pathname, queue: queue.id, token, key: apiKey };
  const found: string[] = [];
  let seed = firstSeed;
  const report = (text: string): void => void found.push(`BYTES_SEED=${seed}: ${text}`);
  // An uncaught error would end the process of the service.
  process.setUncaughtExceptionCaptureCallback((error) => report(`uncaught ${error.stack}`));
  onTestFinished(() => process.setUncaughtExceptionCaptureCallback(null));
  const internalErrors = (): string[] =>
    readFileSync(join(rig.dataFolder, "service.log"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"level":50'));
  let reported = 0;
  let workerConnections = 0;

  async function play(): Promise<void> {
    const random = randomFrom(seed);
    nextSteps = () => {
      workerConnections++;
      return workerSteps(random);
    };
    const clients = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => {
      const allowHalfOpen = random.chance(0.5);
      const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen, noDelay: true });
      socket.on("error", () => undefined).resume();
      return { socket, steps: clientSteps(random, addresses) };
    });
    await Promise.all(clients.map(({ socket }) => once(socket, "connect")));
    await Promise.all(clients.map(({ socket, steps }) => runSteps(socket, steps)));
    // Other connections are served, also by the same worker.
    const health = await fetch(`${rig.root}/healthz`).catch(String);
    if (typeof health === "string" || health.status !== 200) report(`GET /healthz failed: ${health}`);
    nextSteps = () => plainSteps;
    const other = await balancer.request("/").then((response) => response.text(), String);
    if (other !== "ok") report(`another request failed: ${other}`);
    const sockets = [...clients.map(({ socket }) => socket), ...balancer.open];
    for (const socket of random.chance(0.5) ? sockets : sockets.reverse()) socket.destroy();
    await Promise.all(sockets.map(ended));
    const logged = internalErrors();
    for (const line of logged.slice(reported)) report(line);
    reported = logged.length;
  }

  for (; seed <= lastSeed; seed++) {
    await play();
    const isIdle = expect.poll(balancer.workers, { timeout: 15_000 }).toMatchObject([{ status: "IDLE" }]);
    await isIdle.catch(() => report("a request of the worker does not end"));
    if (found.some((text) => text.endsWith("does not end"))) break;
  }
  console.info(`${lastSeed - firstSeed + 1} sequences, ${workerConnections} connections of workers`);
  expect(found).toEqual([]);
});
