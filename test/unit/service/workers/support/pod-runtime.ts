import { expect, onTestFinished } from "vitest";
import { steadyClock } from "../../../../../service/steady-clock";
import { createPods } from "../../../../../service/workers/runtimes/pod/pods";
import { kubernetesShape } from "../../../../../service/workers/runtimes/pod/settings";
import type { WorkerStart } from "../../../../../service/workers/runtimes/runtime";
import { acceleratedClock } from "../../../../support/accelerated-clock";
import { scratchFolder } from "../../../../support/folders";
import { useApiServer } from "./api-server";
import { plainNeeds } from "./container-needs";

/** Port of the service. */
export const port = 7337;
/** The response of an API server that rejects a call. */
export const rejection = (status: number, message: string) => ({ status, json: { message } });

/** Status of a pod that runs. */
export const running = {
  phase: "Running",
  podIP: "10.0.0.9",
  containerStatuses: [{ name: "worker", state: { running: {} } }],
};
/** Status of a pod whose program has ended. */
export const exited = (exitCode: number) => ({
  phase: "Failed",
  containerStatuses: [{ name: "worker", state: { terminated: { exitCode } } }],
});

/** The pods of a service, outside of the cluster. */
export async function useRuntime({
  settings = {},
  listenForWorkers = async () => 1,
  speed = 10,
  dataFolder = scratchFolder(),
}: {
  settings?: object;
  /** Factor of the service's clock. */
  speed?: number;
  dataFolder?: string;
  listenForWorkers?: (address: string, port: number) => Promise<number>;
} = {}) {
  const warnings: string[] = [];
  const warn = (...words: unknown[]): void => void warnings.push(String(words.at(-1)));
  const kubernetes = kubernetesShape.parse({ workerUrl: "http://workers.test:7338/", ...settings });
  const log = { info: warn, warn };
  const sleeps: number[] = [];
  const clock = acceleratedClock(speed);
  const sleep: typeof clock.sleep = (ms, signal) => {
    sleeps.push(ms);
    return clock.sleep(ms, signal);
  };
  const options = {
    kubernetes,
    dataFolder,
    port,
    listenForWorkers,
    clock: steadyClock({ ...clock, sleep }),
    log,
  };
  const pods = await createPods(options);
  return { pods, warnings, sleeps };
}

/** A worker with its output. */
export function workerOf(needs: Partial<typeof plainNeeds> = {}) {
  const lines: string[] = [];
  const environment = { image: "acme/x:1", dockerArgs: "", env: {}, secretValues: [] };
  const worker: WorkerStart = {
    endpointId: "e1",
    workerId: "w1",
    configuration: "c1",
    env: (url) => ({ URL: url }),
    onLine: (line) => lines.push(line),
    environment: { ...environment, container: { ...plainNeeds, ...needs } },
  };
  return { worker, lines };
}

/** A worker that `start` starts, on the pods of a service. `speed` is the factor of the service's clock. */
export async function useWorker(
  needs: Partial<typeof plainNeeds> = {},
  { serverPorts, speed }: { serverPorts?: { port: number; healthPort: number }; speed?: number } = {},
) {
  const api = await useApiServer();
  const { pods, warnings, sleeps } = await useRuntime(speed === undefined ? {} : { speed });
  await pods.open();
  await pods.listen();
  onTestFinished(() => pods.close());
  await expect.poll(() => api.watches.size).toBe(1);
  const { worker, lines } = workerOf(needs);
  const ports = serverPorts && { ...serverPorts, healthPath: "/ping" };
  const preparation = pods.prepare({ image: "acme/x:1", dockerArgs: "", serverPorts: ports, program: undefined });
  const start = "start" in preparation ? preparation.start : undefined;
  if (!start) throw new Error("no worker can be started");
  return { api, pods, warnings, sleeps, lines, start: () => start(worker) };
}
