import { type Command, Option } from "commander";
import {
  callJob,
  commandsOfJob,
  defaultJobs,
  type JobsFlags,
  jobStates,
  listJobs,
  type RunFlags,
  runJob,
  untilInterrupted,
} from "serverless-compute-api/job-commands";
import { dataFlag, readInput, wholeNumber } from "./option-values";
import type { Output } from "./output";

type DataFlag = { data: string };

/** Adds the commands that submit and print jobs of a running service, or inject faults. `outputClosed` aborts when the output is closed. */
export function addJobCommands(program: Command, output: Output, outputClosed: AbortSignal | undefined): void {
  const connectTo = async ({ data }: DataFlag, signal?: AbortSignal) =>
    (await import("./jobs.js")).connectToJobs(data, signal);

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
    .action((endpoint: string, input: string, flags: RunFlags & DataFlag) =>
      untilInterrupted(outputClosed, async (signal) =>
        runJob(await connectTo(flags, signal), endpoint, input, flags, output),
      ),
    );

  program
    .command("jobs")
    .description("print the jobs of an endpoint, newest first")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag())
    .addOption(new Option("--state <state>", "only jobs in this state, such as FAILED").choices(jobStates))
    .option("--limit <n>", "number of jobs to print", wholeNumber(1), defaultJobs)
    .action(async (endpoint: string, flags: JobsFlags & DataFlag) =>
      listJobs(await connectTo(flags), endpoint, flags, output),
    );

  for (const { name, operation, description } of commandsOfJob)
    program
      .command(name)
      .description(description)
      .argument("<id>", "id of the job")
      .option(...dataFlag())
      .action(async (id: string, flags: DataFlag) => callJob(await connectTo(flags), operation, id, output));

  program
    .command("faults")
    .description("print the injected faults of an endpoint, or replace them by a JSON object; {} removes all")
    .argument("<endpoint>", "id or name")
    .argument("[faults]", 'such as {"failJobs":2}', readInput)
    .option(...dataFlag())
    .action(async (endpoint: string, faults: string | undefined, { data }: DataFlag) =>
      (await import("./jobs.js")).callFaults(endpoint, faults, data, output),
    );
}
