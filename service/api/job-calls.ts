import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "serverless-compute-api/clock";
import type { LimitedOperation } from "serverless-compute-api/shapes";
import { notFound, ServiceError } from "../errors";
import { type JobOperation, type LiveJob, type NewJob, recordText } from "../jobs/job";
import type { Jobs } from "../jobs/jobs";
import type { JobRecords } from "../jobs/records";
import type { StoredJob } from "../jobs/row";
import type { JobWaits } from "../jobs/waits";
import type { EndpointRow } from "../resources/endpoints";
import type { Auth } from "./auth";
import { onDisconnect } from "./client-disconnect";
import type { RateLimits } from "./rate-limits";
import { readSubmission } from "./submission";

/** What the job API's routes have in common; each throws a ServiceError. */
export type JobCalls = ReturnType<typeof createJobCalls>;

interface JobCallDeps {
  auth: Pick<Auth, "checkJobs">;
  /** How an endpoint takes requests; undefined when it is unknown. */
  typeOf(endpointId: string): EndpointRow["type"] | undefined;
  rateLimits: RateLimits;
  jobs: Pick<Jobs, "submit" | "submitSync">;
  records: JobRecords;
  waits: JobWaits;
  clock: Clock;
}

const loadBalancing = (endpointId: string): ServiceError =>
  new ServiceError("unsupported", `endpoint "${endpointId}" is a load balancer: it has no queue and takes no jobs`);

export function createJobCalls({ auth, typeOf, rateLimits, jobs, records, waits, clock }: JobCallDeps) {
  const find = (endpointId: string, jobId: string): StoredJob => {
    const found = records.find(endpointId, jobId);
    if (!found) throw notFound("job", jobId);
    return found;
  };
  const textOf = ({ job, output }: StoredJob): string => recordText(job, output, clock.now());
  const accept = async (job: NewJob): Promise<LiveJob> => {
    const accepted = await jobs.submit(job);
    if (!accepted) throw notFound("endpoint", job.endpointId);
    return accepted;
  };
  const submission = (endpointId: string, operation: JobOperation, body: string): NewJob =>
    readSubmission(endpointId, operation, body, clock.now());

  /**
   * Sends the job's record once it is over, or as it is after `wait` ms; nothing when the client disconnects. Returns what ends
   * the wait.
   */
  function sendWhenOver(
    endpointId: string,
    jobId: string,
    wait: number,
    response: ServerResponse,
    send: (record: string | ServiceError) => void,
  ): () => void {
    const recordOf = (ended: StoredJob | undefined): string | ServiceError => {
      try {
        const found = ended ?? records.find(endpointId, jobId);
        return found ? textOf(found) : notFound("job", jobId);
      } catch {
        // Other waits that end in the same turn, and this response, must not be lost.
        return new ServiceError("internal", `job "${jobId}" cannot be read from the store; try again later`);
      }
    };
    const leave = waits.wait(jobId, wait, (ended) => {
      send(recordOf(ended));
    });
    onDisconnect({ raw: response }, leave);
    return leave;
  }

  return {
    find,
    textOf,
    accept,
    submission,
    sendWhenOver,
    /** What every call does before its own work: key, endpoint, rate limit, in this order. */
    admit(
      endpointId: string,
      operation: LimitedOperation | undefined,
      request: Pick<IncomingMessage, "headers">,
      response: ServerResponse,
    ): void {
      auth.checkJobs(request);
      const type = typeOf(endpointId);
      if (type === undefined) throw notFound("endpoint", endpointId);
      if (type === "LB") throw loadBalancing(endpointId);
      if (operation) rateLimits.admit(endpointId, operation, { raw: response });
    },
    /** Queues a job; resolves with the response. */
    async run(endpointId: string, body: string): Promise<string> {
      const { id } = await accept(submission(endpointId, "run", body));
      // Even when a worker was there already: the record says what is now, this says that it was accepted.
      return `{"id":"${id}","status":"IN_QUEUE"}`;
    },
    /** Queues a job, and sends its record as `sendWhenOver` does. */
    runsync(
      endpointId: string,
      body: string,
      wait: number,
      response: ServerResponse,
      send: (record: string | ServiceError) => void,
    ): void {
      const job = submission(endpointId, "runsync", body);
      // First of all: the job may be over before this returns.
      const leave = sendWhenOver(endpointId, job.id, wait, response, send);
      if (jobs.submitSync(job)) return;
      leave();
      throw notFound("endpoint", endpointId);
    },
    /** The job's record as it is. */
    status: (endpointId: string, jobId: string): string => textOf(find(endpointId, jobId)),
  };
}
