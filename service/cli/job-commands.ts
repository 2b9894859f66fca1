import { type Command, Option } from "commander";
import type { JobStatus } from "serverless-compute-api/shapes";
import type { JobsFlags, RunFlags } from "./jobs";
import { dataFlag, oneOf, readInput, wholeNumber } from "./option-values";
import type { Output } from "./output";

const jobStates = [
  "IN_QUEUE",
  "IN_PROGRESS",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TIMED_OUT",
] as const satisfies JobStatus[];

/** Default number of jobs printed by `jobs`. */
const defaultJobs = 20;

/** Adds the commands that submit and print jobs of a running service, or inject faults. */
export function addJobCommands(program: Command, output: Output): void {
  program
    .command("run")
    .description("submit a job to an endpoint of the running service and print the response as JSON")
    .argument("<endpoint>", "id or name")
    .argument("[input]", "input of the job, a JSON object", readInput, "{}")
    .option(...dataFlag())
    .option("--sync", "wait for the result; exit code 1 unless the job completes", false)
    .addOption(
      new Option("--stream", "print each chunk of the output as a line of JSON").default(false).conflicts("sync"),
    )
    .action(async (endpoint: string, input: string, flags: RunFlags) =>
      (await import("./jobs.js")).runJob(endpoint, input, flags, output),
    );

  program
    .command("jobs")
    .description("print the jobs of an endpoint, newest first")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag())
    .option("--state <state>", "only jobs in this state, such as FAILED", oneOf(...jobStates))
    .option("--limit <n>", "number of jobs to print", wholeNumber(1), defaultJobs)
    .action(async (endpoint: string, flags: JobsFlags) =>
      (await import("./jobs.js")).listJobs(endpoint, flags, output),
    );

  const ofJob = [
    ["job", "status", "print the record of a job as JSON"],
    ["cancel", "cancel", "cancel a job"],
    ["retry", "retry", "requeue a failed job"],
  ] as const;
  for (const [name, operation, description] of ofJob)
    program
      .command(name)
      .description(description)
      .argument("<id>", "id of the job")
      .option(...dataFlag())
      .action(async (id: string, { data }: { data: string }) =>
        (await import("./jobs.js")).callJob(operation, id, data, output),
      );

  program
    .command("faults")
    .description("print the injected faults of an endpoint, or replace them by a JSON object; {} removes all")
    .argument("<endpoint>", "id or name")
    .argument("[faults]", 'such as {"failJobs":2}', readInput)
    .option(...dataFlag())
    .action(async (endpoint: string, faults: string | undefined, { data }: { data: string }) =>
      (await import("./jobs.js")).callFaults(endpoint, faults, data, output),
    );
}
