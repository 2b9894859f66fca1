import type { ServiceOptions } from "serverless-compute-local";
import { readWorkerToken } from "../../../../../service/workers/tokens";
import { useLocalService } from "../../../../support/local-service";
import { shortTimings } from "./programs";

/** Creates an endpoint without local workers, and calls of remote workers by worker id. */
export async function useRemoteEndpoint({ timings, ...options }: ServiceOptions = {}) {
  const short = { ...shortTimings, pollHold: 100, secondLook: 20, ...timings };
  const rig = await useLocalService({ timings: short, ...options });
  const jobs = await rig.jobsOn("elsewhere", { workersMax: 0 });
  const headers = { authorization: readWorkerToken(rig.dataFolder, jobs.id) ?? "" };
  const call = (method: string, path: string, body?: unknown) =>
    jobs.call(method, path, undefined, { headers, ...(typeof body === "string" ? { text: body } : { json: body }) });
  return {
    rig,
    jobs,
    as: (worker: string) => ({
      take: (query = "") => call("GET", `/job-take/${worker}?gpu=x${query}`),
      done: (jobId: string, body: unknown) => call("POST", `/job-done/${worker}/${jobId}?gpu=x&isStream=false`, body),
      stream: (jobId: string, body: unknown) => call("POST", `/job-stream/${worker}/${jobId}?gpu=x`, body),
      ping: (query: string) => call("GET", `/ping/${worker}?runpod_version=1.12.0&${query}`),
      stops: () => call("GET", `/job-stop/${worker}?gpu=x`),
    }),
  };
}
