import { existsSync } from "node:fs";
import { expect } from "vitest";
import { at, pollUntil, type RawResponse, send, stringAt } from "../support/raw-http";
import type { Chance } from "./chance";

/** Input of a job of the load (handlers/work.mjs). */
export interface WorkInput {
  n: number;
  ms: number;
  fails: boolean;
  /** True if the first run never ends. */
  hangs?: boolean;
}

/** A job that the service has acknowledged. */
export interface AcceptedJob {
  id: string;
  endpointId: string;
  input: WorkInput;
  round: number;
}

/** A job's final state as reported to a client. */
interface ToldEnd {
  status: string;
  /** JSON text. */
  output: string;
}

/** Combined observations of all clients, against which the service's records are checked. */
export interface Knowledge {
  accepted: Map<string, AcceptedJob>;
  reported: Map<string, ToldEnd>;
  /** Responses that no client should ever receive, as text. */
  wrong: string[];
  /** Number of /run requests rejected by the rate limit. */
  throttled: number;
}

export const newKnowledge = (): Knowledge => ({ accepted: new Map(), reported: new Map(), wrong: [], throttled: 0 });

interface LoadTarget {
  serverlessUrl: string;
  apiKey: string;
  endpointIds: string[];
}

interface LoadPlan {
  target: LoadTarget;
  chance: Chance;
  knowledge: Knowledge;
  round: number;
  /** Maximum duration of a job, ms. */
  longestJob: number;
  /** Percentage of jobs that a client cancels. */
  cancels: number;
  /** Ends the load; calls in flight complete or fail. */
  until: AbortSignal;
}

const finals = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];

/** Records the state in a response; a final state must never change. */
function recordState(knowledge: Knowledge, job: AcceptedJob, { status, json, text }: RawResponse, path: string): void {
  if (status === 429 || status === 503) return;
  const reported = { status: String(at(json, "status")), output: JSON.stringify(at(json, "output") ?? null) };
  const before = knowledge.reported.get(job.id);
  if (status !== 200) knowledge.wrong.push(`${path} of ${job.id} returned ${status} ${text.slice(0, 200)}`);
  else if (before && before.status !== reported.status)
    knowledge.wrong.push(`${path} of ${job.id} returned ${reported.status}, but ${before.status} before`);
  else if (finals.includes(reported.status)) knowledge.reported.set(job.id, reported);
}

/** Runs a client that submits jobs sequentially, polls some and cancels some until the load ends. */
async function runClient({ target, chance, knowledge, round, ...plan }: LoadPlan): Promise<void> {
  const { serverlessUrl, apiKey: key, endpointIds } = target;
  const submitted: AcceptedJob[] = [];
  while (!plan.until.aborted) {
    const endpointId = chance.oneOf(endpointIds) ?? "";
    const root = `${serverlessUrl}/v2/${endpointId}`;
    const input = { n: chance.whole(0, 9999), ms: chance.whole(0, plan.longestJob), fails: chance.percent(15) };
    const polled = chance.percent(20) ? chance.oneOf(submitted) : undefined;
    const cancelled = chance.percent(plan.cancels) ? chance.oneOf(submitted) : undefined;
    const pause = chance.whole(0, 20);
    try {
      const response = await send("POST", `${root}/run`, { key, json: { input } });
      const id = at(response.json, "id");
      if (response.status === 200 && typeof id === "string") {
        const job = { id, endpointId, input, round };
        submitted.push(job);
        knowledge.accepted.set(id, job);
      } else if (response.status === 429) knowledge.throttled++;
      else if (response.status !== 503)
        knowledge.wrong.push(`/run returned ${response.status} ${response.text.slice(0, 200)}`);
      const jobUrl = (job: AcceptedJob, operation: string) =>
        `${serverlessUrl}/v2/${job.endpointId}/${operation}/${job.id}`;
      if (polled) recordState(knowledge, polled, await send("GET", jobUrl(polled, "status"), { key }), "/status");
      if (cancelled) {
        const done = await send("POST", jobUrl(cancelled, "cancel"), { key });
        // An acknowledged cancellation has ended the job, unless it was already finished.
        if (done.status === 200 && !finals.includes(String(at(done.json, "status"))))
          knowledge.wrong.push(`/cancel of ${cancelled.id} returned ${done.text.slice(0, 200)}`);
        if (done.status === 200)
          recordState(knowledge, cancelled, { ...done, json: { status: at(done.json, "status") } }, "/cancel");
      }
    } catch {
      // The service was killed; it acknowledged nothing.
      if (plan.until.aborted) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Submits a job whose first run hangs, and waits until its handler, the file `handler`, runs. */
export async function runHangingJob(
  { target, knowledge, round }: Pick<LoadPlan, "target" | "knowledge" | "round">,
  endpointId: string,
  handler: string,
): Promise<void> {
  const { serverlessUrl, apiKey: key } = target;
  const input = { n: 7, ms: 0, fails: false, hangs: true };
  // The load may have exhausted the rate limit.
  const accepted = await pollUntil(
    () => send("POST", `${serverlessUrl}/v2/${endpointId}/run`, { key, json: { input } }),
    ({ status }) => status === 200,
  );
  const id = stringAt(accepted, "id");
  knowledge.accepted.set(id, { id, endpointId, input, round });
  // A job is IN_PROGRESS before its handler runs. A worker that is killed in between leaves a first run to the next worker.
  await expect.poll(() => existsSync(`${handler}.${id}`)).toBe(true);
}

/** Runs `clients` clients in parallel; resolves when all have ended. */
export async function runLoad(clients: number, plan: LoadPlan): Promise<void> {
  await Promise.all(Array.from({ length: clients }, () => runClient(plan)));
}
