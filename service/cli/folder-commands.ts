import type { Command } from "commander";
import { untilInterrupted } from "serverless-compute-api/job-commands";
import { findLocalEngine } from "../settings";
import type { LogsFlags } from "./logs";
import { dataFlag, readSeconds, wholeNumber } from "./option-values";
import { type Output, printError } from "./output";

/** Default number of lines printed by `logs`. */
const defaultLines = 100;

/** Default wait of `key --wait`, s. */
const defaultWait = 30;

/** Adds the commands that read or change a data folder. `outputClosed` aborts when the output is closed. */
export function addFolderCommands(program: Command, output: Output, outputClosed: AbortSignal | undefined): void {
  program
    .command("key")
    .description("print the API key")
    .option(...dataFlag())
    .option("--wait [seconds]", `wait for the service, at most this long (default: ${defaultWait})`, readSeconds)
    .action(async ({ data, wait }: { data: string; wait?: number | true }) => {
      const { printKey, waitForService } = await import("./data-folder.js");
      if (wait !== undefined) await waitForService(data, wait === true ? defaultWait * 1000 : wait);
      printKey(data, output);
    });

  program
    .command("logs")
    .description("print the output of an endpoint's workers; works without a running service")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag())
    .option("--lines <n>", "number of past lines to print", wholeNumber(0), defaultLines)
    .option("--follow", "keep printing new lines until Ctrl-C", false)
    .option("--json", "print each line as a line of JSON", false)
    .action(async (endpoint: string, flags: LogsFlags) => {
      const { printLogs } = await import("./logs.js");
      await untilInterrupted(outputClosed, (signal) => printLogs(endpoint, flags, output, signal));
    });

  program
    .command("token")
    .description("print the token for workers of an endpoint that run on other machines")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag())
    .action(async (endpoint: string, { data }: { data: string }) =>
      (await import("./data-folder.js")).printToken(endpoint, data, output),
    );

  program
    .command("reset")
    .description("delete all objects, jobs and logs of a data folder that no service uses; keep its key")
    .option(...dataFlag())
    .action(async ({ data }: { data: string }) => {
      (await import("../snapshots.js")).resetDataFolder(data);
      output.out(`Deleted all objects, jobs and logs of ${data}.`);
    });

  program
    .command("snapshot")
    .description("copy a data folder that no service uses, without its key, into a new folder")
    .argument("<dir>", "new or empty folder")
    .option(...dataFlag())
    .action(async (target: string, { data }: { data: string }) => {
      (await import("../snapshots.js")).snapshotDataFolder(data, target, (text) => printError(output, text));
      output.out(`Copied ${data} to ${target}. It contains the values of secrets.`);
    });

  program
    .command("restore")
    .description("replace the content of a data folder that no service uses by a snapshot; keep its key")
    .argument("<dir>", "folder written by snapshot")
    .option(...dataFlag())
    .action(async (source: string, { data }: { data: string }) => {
      (await import("../snapshots.js")).restoreDataFolder(data, source, (text) => printError(output, text));
      output.out(`Restored ${data} from ${source}.`);
    });

  program
    .command("prune")
    .description("remove containers, network and pulled images that a killed service left in the Docker Engine")
    .option(...dataFlag())
    .action(async ({ data }: { data: string }) => (await import("./prune.js")).prune(data, findLocalEngine, output));
}
