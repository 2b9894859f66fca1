import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { scratchFolder } from "../../support/folders";
import type { JobApi } from "../../support/job-api";
import type { RawResponse } from "../../support/raw-http";
import type { Target } from "../../support/target";

/** A job of the `slow` handler. */
interface LongJob {
  input: object;
  /** Ends all jobs with this input. */
  end(): void;
}

/** A job that runs until the test ends it, or for 12 s if the service cannot read this machine's files. */
export function longJob({ isExternal }: Target, context: TestContext): LongJob {
  if (isExternal) return { input: { ms: 12_000 }, end: () => undefined };
  const endFile = join(scratchFolder(context.onTestFinished), "end");
  return { input: { until: endFile }, end: () => writeFileSync(endFile, "") };
}

/** Submits a job to `slow` workers that runs until the test ends it, and waits until a worker runs it. */
export async function runLongJob(target: Target, context: TestContext, jobs: JobApi) {
  const { input, end } = longJob(target, context);
  const id = await jobs.submit(input);
  await jobs.reaches(id, "IN_PROGRESS");
  return { id, end };
}

/** Advances a stopped clock by seconds until a call returns; returns the response and the number of seconds. */
export async function secondsUntil(target: Target, context: TestContext, call: Promise<RawResponse>, jobs: JobApi) {
  let hasReturned = false;
  void call.finally(() => {
    hasReturned = true;
  });
  let seconds = 0;
  for (; !hasReturned; seconds++) {
    await target.advance(1000, context);
    // Gives the call time to return before the next second.
    await jobs.health();
  }
  return { response: await call, seconds };
}
