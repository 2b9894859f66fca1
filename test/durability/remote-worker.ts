import { at, send } from "../support/raw-http";

/** A worker that the service did not start and that survives its restarts. */
interface RemoteWorker {
  /** Number of runs by job. */
  runs: Map<string, number>;
  ended: Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs jobs like handlers/work.mjs, over the worker channel under `root`; sends each result until it is acknowledged. */
export function startRemoteWorker(root: string, token: string, name: string, until: AbortSignal): RemoteWorker {
  const headers = { authorization: token };
  const worker: RemoteWorker = { runs: new Map(), ended: Promise.resolve() };
  const request = (method: string, path: string, json?: object) =>
    send(method, `${root}/${path}`, json === undefined ? { headers } : { headers, json }).catch(() => undefined);

  async function sendResult(id: string, result: object): Promise<void> {
    while (!until.aborted && (await request("POST", `job-done/${name}/${id}?gpu=x`, result))?.status !== 200)
      await pause(20);
  }

  async function work(): Promise<void> {
    while (!until.aborted) {
      const response = await request("GET", `job-take/${name}?gpu=x&job_in_progress=0`);
      const id = at(response?.json, "id");
      if (response?.status !== 200 || typeof id !== "string") {
        await pause(20);
        continue;
      }
      worker.runs.set(id, (worker.runs.get(id) ?? 0) + 1);
      const n = Number(at(response.json, "input", "n"));
      await pause(Number(at(response.json, "input", "ms")));
      const fails = at(response.json, "input", "fails") === true;
      await sendResult(id, fails ? { error: `no square of ${n}` } : { output: { square: n * n } });
    }
  }
  worker.ended = work();
  return worker;
}
