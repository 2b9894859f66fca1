import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { scratchFolder } from "../../support/folders";
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
