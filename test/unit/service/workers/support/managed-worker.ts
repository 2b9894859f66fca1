import { systemClock } from "serverless-compute-api/clock";
import { steadyClock } from "../../../../../service/steady-clock";
import { createWorkerRegistry } from "../../../../../service/workers/registry";
import type { WorkerProcess } from "../../../../../service/workers/runtimes/runtime";
import type { ManagedWorker } from "../../../../../service/workers/worker";

/** Time at which the workers join, ms. */
export const start = 1_000_000;

/** A program that runs until its end; `calls` contains the requests for it. */
export function runningProgram(of: Partial<WorkerProcess> = {}) {
  const calls: string[] = [];
  const process: WorkerProcess = {
    channel: undefined,
    ended: new Promise(() => undefined),
    stop: (grace) => calls.push(`stop within ${grace} ms`),
    kill: () => calls.push("kill"),
    ...of,
  };
  return { process, calls };
}

/** Workers that the service starts for one endpoint, their time, and the number of `changed` events. */
export function managedWorkers() {
  let now = start;
  let changes = 0;
  const clock = steadyClock({ ...systemClock, now: () => now });
  const registry = createWorkerRegistry(clock, () => true);
  registry.events.on("changed", () => changes++);
  return {
    registry,
    clock,
    changes: () => changes,
    setTime(time: number): void {
      now = time;
    },
    add: (id: string, process = runningProgram().process, version = 1): ManagedWorker =>
      registry.add({
        id,
        endpointId: "e",
        redact: (text) => text.replaceAll("secret", "***"),
        version,
        process,
        image: "acme/x:1",
      }),
  };
}

/** `managedWorkers` with an external worker that has just joined. */
export function externalWorker() {
  const workers = managedWorkers();
  return { ...workers, worker: workers.registry.join({ id: "w", endpointId: "e", redact: String }) };
}
