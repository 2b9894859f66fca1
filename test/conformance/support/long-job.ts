import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { scratchFolder } from "../../support/folders";
import type { Target } from "../../support/target";
import type { JobApi } from "./job-api";

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
