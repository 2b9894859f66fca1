import { parse } from "yaml";
import { z } from "zod";

const stepShape = z
  .looseObject({ name: z.string().optional(), uses: z.string().optional(), run: z.string().optional() })
  .refine(
    ({ uses, run }) => (uses === undefined) !== (run === undefined),
    "a step uses an action or runs a command; this one does nothing, or both",
  );

/** Checked parts of a GitHub Actions workflow. */
const githubShape = z.looseObject({
  on: z.unknown().refine((value) => value !== undefined, "there is nothing that starts the workflow"),
  permissions: z.record(z.string(), z.enum(["read", "write", "none"])).optional(),
  concurrency: z.union([z.string(), z.looseObject({ group: z.string() })]).optional(),
  jobs: z.record(
    z.string(),
    z.looseObject({
      "runs-on": z.string(),
      "timeout-minutes": z.number().optional(),
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      steps: z.array(stepShape).min(1),
    }),
  ),
});

/** A job of GitLab CI. */
const gitlabJobShape = z.looseObject({
  script: z.union([z.string(), z.array(z.string())]),
  stage: z.string().optional(),
  rules: z.array(z.looseObject({})).optional(),
  resource_group: z.string().optional(),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Faults of a GitHub or GitLab workflow in YAML; empty for other text. */
export function workflowFaults(text: string): string[] {
  if (/^jobs:$/m.test(text) && /^on:/m.test(text)) {
    const { success, data, error } = githubShape.safeParse(parse(text));
    if (!success) return [z.prettifyError(error)];
    const names = Object.keys(data.jobs);
    const needed = Object.values(data.jobs).flatMap(({ needs = [] }) => needs);
    return needed.filter((name) => !names.includes(name)).map((name) => `a job needs ${name}, which is no job`);
  }
  if (!/^ {2}script:/m.test(text)) return [];
  const jobs = Object.entries(z.record(z.string(), z.unknown()).parse(parse(text)));
  return jobs.flatMap(([name, job]) => {
    if (name.startsWith(".") || !isObject(job) || !("script" in job)) return [];
    const { success, error } = gitlabJobShape.safeParse(job);
    return success ? [] : [`${name}: ${z.prettifyError(error)}`];
  });
}
