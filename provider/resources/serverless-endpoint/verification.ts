import { type EndpointWorkers, isApiError } from "serverless-compute-api";
import type { Path } from "../../engine/values";
import type { Context } from "../../framework/contract";
import { UserError } from "../../framework/errors";
import type { JobResult, JobSpec } from "../job-invoke/inputs";
import { jobFailure } from "../job-invoke/job-failure";
import { checkResult, describeHealth, runToCompletion } from "../job-invoke/job-result";
import { requestText } from "../job-invoke/request";
import type { Inputs, Verify } from "./inputs";
import { deadlineOf, followRollout, type Rollout } from "./rollout";

/** Returns the context of the job: secret paths are relative to `verify`, and progress names the version. */
function contextOfJob(context: Context, rollout: Rollout): Context {
  const relativeToVerify = (path: Path): Path[] => (path[0] === "verify" ? [path.slice(1)] : []);
  return {
    ...context,
    secrets: { ...context.secrets, paths: context.secrets.paths.flatMap(relativeToVerify) },
    // The number of workers would be outdated: the job itself may start one.
    progress: (text) => context.progress(`${rollout.target()}: ${text}`),
  };
}

const isResponseLost = (error: unknown): boolean =>
  error instanceof UserError && isApiError(error.cause) && error.cause.ambiguous === true;

/**
 * Runs the job until a worker of the endpoint's new version completes it as expected; otherwise rejects with a UserError that
 * contains the reason. A job that ran on an old worker is inconclusive and is repeated.
 */
export async function verifyEndpoint(
  endpointId: string,
  { verify, workersMax }: Pick<Inputs, "workersMax"> & { verify: Verify },
  oldWorkers: EndpointWorkers | undefined,
  context: Context,
): Promise<Rollout> {
  const { request, attempts, ...job } = verify;
  const deadline = deadlineOf(verify, context);
  const rollout = followRollout(endpointId, oldWorkers, deadline, context);
  const jobContext = contextOfJob(context, rollout);
  if (workersMax === 0)
    throw new UserError("workersMax is 0: no worker can run the job; raise workersMax, or remove verify");
  const titleOf = ({ id }: JobResult): string => (request ? requestText(request) : `job ${id}`);
  const timeLimit = Math.round(deadline.remaining() / 1000);
  for (let attempt = 1; ; ) {
    await rollout.waitUntilReady();
    const remaining = deadline.remaining();
    if (remaining <= 0)
      throw jobFailure([
        `no worker of the new version ${request ? "was ready for the request" : "started the job"} within ${timeLimit} s (${rollout.text()})`,
        request ? undefined : await describeHealth(endpointId, jobContext),
        "Check the image and the endpoint's logs; raise verify.timeout if its workers start slowly.",
      ]);
    const timeout = remaining / 1000;
    const spec: JobSpec = { ...job, endpointId, request, mode: "async", timeout, storeOutput: false };
    try {
      const result = await runToCompletion(spec, jobContext);
      if (await rollout.ranOnNewWorker(result)) {
        await checkResult(spec, result, jobContext);
        context.progress(`${rollout.target()}: ${titleOf(result)} succeeded`);
        return rollout;
      }
      context.progress(`${rollout.target()}: ${titleOf(result)} ran on a worker of an old version; repeating it`);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const isLast = deadline.remaining() <= 0 || (!isResponseLost(error) && attempt >= attempts);
      if (isLast) throw error;
      context.progress(`attempt ${attempt} of ${attempts}: ${error.message.split("\n", 1)}`);
      if (!isResponseLost(error)) attempt++;
    }
  }
}
