import { type EndpointWorkers, isApiError } from "serverless-compute-api";
import type { Context, Path } from "../../lifecycle/contract";
import type { Ended, JobOrder } from "../job-invoke/inputs";
import { JobFailure } from "../job-invoke/job-failure";
import type { JobContext } from "../job-invoke/run";
import { healthLine, holdTo, runToEnd } from "../job-invoke/verdict";
import { deadlineOf } from "./deadline";
import type { Inputs, Verify } from "./inputs";
import { followRollout, type Rollout } from "./rollout";

/** Returns the context of the job: secret paths are relative to `verify`, and progress includes the rollout. */
function jobContext(context: Context, rollout: Rollout): JobContext {
  const inVerify = (path: Path): Path[] => (path[0] === "verify" ? [path.slice(1)] : []);
  return {
    ...context,
    secrets: context.secrets && { ...context.secrets, paths: context.secrets.paths.flatMap(inVerify) },
    progress: (text) => context.progress(`${rollout.text()}; ${text}`),
  };
}

const isLost = (error: unknown): boolean =>
  error instanceof JobFailure && isApiError(error.cause) && error.cause.ambiguous === true;

/**
 * Runs the job until a worker of the endpoint's new version completes it as expected; otherwise rejects with a JobFailure that
 * contains the reason. A job that ran on an old worker is inconclusive and is repeated.
 */
export async function verifyEndpoint(
  endpointId: string,
  { verify, workersMax }: Pick<Inputs, "workersMax"> & { verify: Verify },
  before: EndpointWorkers | undefined,
  context: Context,
): Promise<Rollout> {
  const { input, request, expect, policy, triggers, attempts } = verify;
  const deadline = deadlineOf(verify, context);
  const rollout = followRollout(endpointId, before, deadline, context);
  const forJob = jobContext(context, rollout);
  const failed = async (title: string, remedy: string): Promise<JobFailure> =>
    new JobFailure([title, request ? undefined : await healthLine(endpointId, forJob), remedy], endpointId, undefined);
  if (workersMax === 0)
    throw new JobFailure(
      ["workersMax is 0: no worker can run the job; raise workersMax, or remove verify"],
      endpointId,
      undefined,
    );
  const workName = ({ id }: Ended): string => (request ? `${request.method} ${request.path}` : `job ${id}`);
  const limit = Math.round(deadline.left() / 1000);
  for (let attempt = 1; ; ) {
    await rollout.untilReady();
    const remaining = deadline.left();
    if (remaining <= 0)
      throw await failed(
        `no worker of the new version ${request ? "was ready for the request" : "started the job"} within ${limit} s (${rollout.text()})`,
        "Check the image and the endpoint's logs; raise verify.timeout if its workers start slowly.",
      );
    const order: JobOrder = {
      endpointId,
      input,
      request,
      expect,
      policy,
      triggers,
      mode: "async",
      timeout: remaining / 1000,
    };
    try {
      const job = await runToEnd(order, forJob);
      if (await rollout.ranOnNew(job)) {
        await holdTo(order, job, forJob);
        context.progress(`${rollout.text()}; ${workName(job)} succeeded`);
        return rollout;
      }
      context.progress(`${rollout.text()}; ${workName(job)} ran on a worker of an old version; repeating it`);
    } catch (error) {
      if (!(error instanceof JobFailure)) throw error;
      const isLast = deadline.left() <= 0 || (!isLost(error) && attempt >= attempts);
      if (isLast) throw error;
      context.progress(`attempt ${attempt} of ${attempts}: ${error.message.split("\n", 1)}`);
      if (!isLost(error)) attempt++;
    }
  }
}
