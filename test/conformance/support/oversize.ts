import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Sends a POST of more than `bytes` bytes ten times from another thread, as a remote client would. Returns the results. */
export async function postOversized(url: string, key: string, bytes: number): Promise<unknown[]> {
  const workerData = { url, key, bytes, times: 10 };
  const client = new Worker(new URL("./oversize-client.mjs", import.meta.url), { workerData });
  const [results] = await once(client, "message");
  return results;
}
