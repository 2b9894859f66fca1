import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll } from "vitest";
import { z } from "zod";
import { main } from "../../../../service/cli/main";
import { serviceFolder } from "../../../support/folders";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const addressLine = z.object({
  baseUrl: z.string(),
  graphqlUrl: z.string(),
  serverlessUrl: z.string(),
  apiKeyFile: z.string(),
  pid: z.number(),
});

/** Result of a process. */
interface Ended {
  /** Exit code; null if a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Running {
  child: ChildProcess;
  /** The first line on stdout; rejects with stderr if the command ends without a line. */
  firstLine(): Promise<string>;
  ended: Promise<Ended>;
}

/** A service started by `start --json`. */
export interface StartedService extends Running {
  addresses: z.output<typeof addressLine>;
  apiKey: string;
}

const running = new Set<ChildProcess>();

/** Result of a command line in this process. */
interface Line {
  code: number;
  out: string;
  err: string;
}

/** Runs a command line in this process. */
export async function runLine(...args: string[]): Promise<Line> {
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  const output = { out: (text: string) => lines.out.push(text), err: (text: string) => lines.err.push(text) };
  const code = await main(["node", "serverless-compute-local", ...args], output);
  return { code, out: lines.out.join("\n"), err: lines.err.join("\n") };
}

/** Runs the command line from its sources. */
export const command = (args: string[], variables: Record<string, string> = {}): Running =>
  program("service/cli/main.ts", args, variables);

/** Runs a TypeScript file of the repository from its sources; `stdout` is the file descriptor of its output instead of a pipe. */
export function program(
  file: string,
  args: string[],
  variables: Record<string, string> = {},
  stdout: "pipe" | number = "pipe",
): Running {
  const loader = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const child = spawn(process.execPath, ["--import", loader, join(root, file), ...args], {
    cwd: tmpdir(),
    env: {
      PATH: process.env["PATH"],
      // Packages resolve to their sources, without a build.
      TSX_TSCONFIG_PATH: fileURLToPath(new URL("./source-paths.json", import.meta.url)),
      ...variables,
    },
    stdio: ["ignore", stdout, "pipe"],
  });
  running.add(child);
  const texts = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (texts.stdout += chunk));
  child.stderr?.on("data", (chunk) => (texts.stderr += chunk));
  const line = child.stdout && once(createInterface(child.stdout), "line");
  const ended = once(child, "close").then(([code]): Ended => {
    running.delete(child);
    return { code: z.number().nullable().parse(code), ...texts };
  });
  return {
    child,
    ended,
    firstLine: async () => {
      const early = ended.then(({ code }) => {
        throw new Error(`ended with ${code} before its first line: ${texts.stderr}`);
      });
      const [text] = await Promise.race([line ?? early, early]);
      return String(text);
    },
  };
}

/** Starts a service on a free port and waits until it prints its addresses. */
export async function startService(dataFolder: string, ...flags: string[]): Promise<StartedService> {
  const process = command(["start", "--port", "0", "--data", dataFolder, "--json", ...flags]);
  const addresses = addressLine.parse(JSON.parse(await process.firstLine()));
  const apiKey = (await readFile(addresses.apiKeyFile, "utf8")).trim();
  return { ...process, addresses, apiKey };
}

/** Creates a folder. After the last test of the file, all running commands are killed and the folder is removed. */
export function useFolder(): string {
  const folder = serviceFolder(afterAll);
  afterAll(async () => {
    for (const child of running) {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
  });
  return folder;
}
