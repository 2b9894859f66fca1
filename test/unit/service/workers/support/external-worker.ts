import { createWorkerRegistry } from "../../../../../service/workers/registry";

/** Time at which the workers join, ms. */
export const start = 1_000_000;

/** An external worker that has just joined, its time, and the number of `changed` events of its endpoint. */
export function externalWorker() {
  let now = start;
  let changes = 0;
  const registry = createWorkerRegistry({ now: () => now });
  registry.events.on("changed", () => changes++);
  const worker = registry.join({ id: "w", endpointId: "e", redact: String });
  const setTime = (time: number): void => {
    now = time;
  };
  return { registry, worker, setTime, changes: () => changes };
}
