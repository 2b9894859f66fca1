import { type Command, InvalidArgumentError, Option } from "commander";
import {
  callJob,
  commandsOfJob,
  defaultJobs,
  isObjectJson,
  type JobsFlags,
  jobStates,
  listJobs,
  type RunFlags,
  runJob,
  untilInterrupted,
} from "serverless-compute-api/job-commands";
import { limits } from "serverless-compute-api/limits";
import { settingsHelp, type Terminal } from "../terminal";
import type { JobAccount } from "./job-account";
import type { LogsFlags } from "./logs";

/** Default number of past lines printed by `logs`. */
const defaultLines = 100;

/** Reads a JSON object; returns its text. */
function readInput(text: string): string {
  if (isObjectJson(text)) return text;
  throw new InvalidArgumentError("It must be a JSON object.");
}

/** Creates a parser of whole numbers from `least` to `most`; without `most`, of at least `least`. */
const wholeNumber =
  (least: number, most?: number) =>
  (text: string): number => {
    const value = Number(text);
    const isAllowed = /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least;
    if (isAllowed && value <= (most ?? value)) return value;
    const bounds = most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number${bounds}.`);
  };

/** Adds the commands about jobs, which have the same arguments and output as those of the local service. */
export function addJobCommands(program: Command, io: Terminal): void {
  const run = (command: (account: JobAccount) => Promise<void>): Promise<void> =>
    untilInterrupted(io.closed, async (signal) => {
      const { withJobAccount } = await import("./job-account.js");
      await withJobAccount(io.err, signal, command);
    });

  program
    .command("run")
    .description("submit a job to an endpoint of the account and print the response as JSON")
    .argument("<endpoint>", "id or name")
    .argument("[input]", "input of the job, a JSON object", readInput, "{}")
    .option("--sync", "wait for the result; exit code 1 unless the job completes", false)
    .addOption(
      new Option("--stream", "print each chunk of the output as a line of JSON").default(false).conflicts("sync"),
    )
    .addHelpText("after", settingsHelp)
    .action((endpoint: string, input: string, flags: RunFlags) =>
      run((account) => runJob(account, endpoint, input, flags, io)),
    );

  program
    .command("jobs")
    .description("print the jobs of an endpoint, newest first, or their counts if the service does not list jobs")
    .argument("<endpoint>", "id or name")
    .addOption(new Option("--state <state>", "only jobs in this state, such as FAILED").choices(jobStates))
    .option("--limit <n>", "number of jobs to print", wholeNumber(1), defaultJobs)
    .addHelpText("after", settingsHelp)
    .action((endpoint: string, flags: JobsFlags) => run((account) => listJobs(account, endpoint, flags, io)));

  for (const { name, operation, description } of commandsOfJob)
    program
      .command(name)
      .description(description)
      .argument("<id>", "id of the job")
      .addHelpText("after", settingsHelp)
      .action((id: string) => run((account) => callJob(account, operation, id, io)));

  program
    .command("logs")
    .description("print the output of an endpoint's running workers; requires REST v2")
    .argument("<endpoint>", "id or name")
    .option("--lines <n>", "number of past lines to print", wholeNumber(0, limits.logTail), defaultLines)
    .option("--follow", "keep printing new lines until Ctrl-C", false)
    .option("--json", "print each line as a line of JSON", false)
    .addHelpText("after", settingsHelp)
    .action((endpoint: string, flags: LogsFlags) =>
      run(async (account) => (await import("./logs.js")).printLogs(account, endpoint, flags, io)),
    );
}
