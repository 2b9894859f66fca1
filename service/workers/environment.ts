import { tmpdir } from "node:os";

/** What a worker's environment is made of. */
export interface WorkerIdentity {
  workerId: string;
  endpointId: string;
  /** Signs the worker in on its endpoint's channel; never the user's API key. */
  token: string;
  /** Root of the job API. */
  serverlessUrl: string;
  /** Folder that the worker may write to. */
  home: string;
  /** ms between two pings. */
  pingInterval: number;
}

/** The entry of a worker's environment that no other process has but what the worker starts. */
export const workerMark = (workerId: string): string => `RUNPOD_POD_ID=${workerId}`;

/**
 * The whole environment of a worker. Of this machine it has only PATH, to find commands; HOME is a folder of its own, so
 * that tools write their caches there and find no one's credentials; TMPDIR and LANG make files and text work.
 * The template's variables may replace those, never the ones that connect the worker.
 */
export function workerEnvironment(identity: WorkerIdentity, template: Record<string, string>): Record<string, string> {
  const { workerId, endpointId, token, serverlessUrl, home, pingInterval } = identity;
  const root = `${serverlessUrl}/v2/${endpointId}`;
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: "C.UTF-8",
    ...template,
    RUNPOD_POD_ID: workerId,
    RUNPOD_ENDPOINT_ID: endpointId,
    RUNPOD_AI_API_KEY: token,
    // $ID and $RUNPOD_POD_ID are for the worker to fill in, and it appends more parameters after the "?".
    RUNPOD_WEBHOOK_GET_JOB: `${root}/job-take/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${root}/job-done/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_STREAM: `${root}/job-stream/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_PING: `${root}/ping/$RUNPOD_POD_ID`,
    RUNPOD_PING_INTERVAL: String(pingInterval),
    // Without these the Python SDK looks for GPUs and calls a public address before it takes jobs.
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
    RUNPOD_SKIP_GPU_CHECK: "true",
  };
}
