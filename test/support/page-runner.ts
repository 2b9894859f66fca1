import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { endGroup, run } from "../../scripts/child.mjs";
import { type Block, parsePage } from "../../scripts/docs/pages.mjs";
import { crowdedCounts, fillDataFolder, isCrowded } from "./crowded-account";
import { freePort } from "./loopback";
import { discardServiceFolder } from "./service-artefacts";

/** A block of a page that ran, and its output. */
interface BlockRun {
  block: Block;
  output: string;
  seconds: number;
}

/** Folder and environment in which a page is followed. */
interface PageEnvironment {
  folder: string;
  env: NodeJS.ProcessEnv;
}

export interface PageOptions {
  /** Blocks that a reader skips, such as those of another system. */
  skip?(block: Block): boolean;
  /** Timeout of a block, ms. */
  timeout?: number;
  /**
   * True to run more commands than the page has: after each `pulumi up` a preview and a refresh, which must find no changes, and
   * before `pulumi destroy` an update. With FULL=1, services that the page starts have 1,200 objects, one object per
   * page and no rate limits.
   */
  fullLifecycle?: boolean;
  /** Folder of the clone in which the page begins. `../chat` then names the reader's folder. */
  clone?: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const startsService = /^npx --no serverless-compute-local start\b(?!.*&\s*$)/m;
/** Commands that run until the reader stops them. */
const keepsRunning = (text: string): boolean =>
  startsService.test(text) || /^npx --no serverless-compute-local logs .*--follow$/m.test(text);
const readsOnly = /--preview-only/;
/** Commands that fail if a deployed program has changes. */
const noChanges = [
  "env -u PULUMI_SKIP_CONFIRMATIONS pulumi preview --expect-no-changes",
  "pulumi refresh --expect-no-changes",
].join("\n");
/** Commands that deploy one more worker for every endpoint of the program. */
const update = [
  `perl -pi -e 's/(workers_?max(?::| =|=)\\s*)(\\d+)/$1.($2+1)/gie' $(ls *.ts *.py Pulumi.yaml 2>/dev/null)`,
  "pulumi up --diff | grep -i '~ workersMax'",
  noChanges,
].join("\n");
/** The service's default port, used by the addresses in pages. */
const defaultPort = "7337";

/**
 * Compares a command's output with the page: each line of the page must occur in this order; `…` matches anything.
 * Returns the first missing line.
 */
export function missingLine(expected: string, output: string): string | undefined {
  let remaining = output;
  for (const line of expected.split("\n")) {
    if (line.trim() === "" || line.trim() === "…") continue;
    const parts = line
      .trim()
      .split("…")
      .map((pattern) => pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"));
    const match = new RegExp(parts.join(".*")).exec(remaining);
    if (!match) return line;
    remaining = remaining.slice(match.index + match[0].length);
  }
  return undefined;
}

/**
 * Follows a page from top to bottom: a block with a file name is written to that file, a block in `sh` is run by bash, and a
 * block without a language that a test runs is the output of the previous one. A command that starts the local service in
 * the foreground keeps running until the end of the page, on its own port, and so does `logs --follow`. Fails at the first failing command.
 */
export async function followPage(
  path: string,
  { folder, env }: PageEnvironment,
  options: PageOptions = {},
): Promise<BlockRun[]> {
  const { skip = () => false, timeout = 280_000, fullLifecycle = false, clone } = options;
  const page = parsePage(path, await readFile(join(root, path), "utf8"));
  const fillsAccount = fullLifecycle && isCrowded && page.blocks.some(({ text }) => startsService.test(text));
  if (fillsAccount) await fillDataFolder(join(folder, ".serverless-compute", "service"), crowdedCounts);
  const port = await freePort();
  // Outside the folder, because readers have no such files.
  const shell = await mkdtemp(join(tmpdir(), "page-shell-"));
  const services: Service[] = [];
  const runs: BlockRun[] = [];
  const addresses = {
    SERVERLESS_COMPUTE_BASE_URL: `http://127.0.0.1:${port}/v2`,
    SERVERLESS_COMPUTE_GRAPHQL_URL: `http://127.0.0.1:${port}/graphql`,
    SERVERLESS_COMPUTE_SERVERLESS_URL: `http://127.0.0.1:${port}`,
    // A running service takes precedence over a service started by the page.
    ...env,
  };
  const runBlock = async (block: Block): Promise<void> => {
    const location = `${path}:${block.line}`;
    if (block.file) {
      await mkdir(dirname(join(folder, block.file)), { recursive: true });
      await writeFile(join(folder, block.file), block.text);
    } else if (block.language === "sh") {
      const commands = block.text
        .replaceAll(`127.0.0.1:${defaultPort}`, `127.0.0.1:${port}`)
        .replaceAll("../chat", clone === undefined ? "../chat" : folder)
        // The programs of pages use REST v2 only, so they work after the retirement of the other APIs.
        .replaceAll(
          "serverless-compute-local start",
          `serverless-compute-local start --port ${port} --retire v1,graphql${fillsAccount ? " --page-size 1 --rate-limits off" : ""}`,
        )
        .replaceAll(/^pulumi up$/gm, (command) => (fullLifecycle ? `${command}\n${noChanges}` : command))
        .replaceAll(/^pulumi destroy$/gm, (command) => (fullLifecycle ? `${update}\n${command}` : command));
      const script = [
        // Variables persist across blocks, as in one terminal.
        "set -aeo pipefail",
        `[ ! -f ${shell}/env ] || { . ${shell}/env; cd "$(cat ${shell}/cwd)"; }`,
        // Read-only commands require no confirmation and reject the option to skip it.
        readsOnly.test(block.text) ? "unset PULUMI_SKIP_CONFIRMATIONS" : "export PULUMI_SKIP_CONFIRMATIONS=true",
        commands,
        `export -p >${shell}/env; pwd >${shell}/cwd`,
      ].join("\n");
      const startTime = Date.now();
      if (keepsRunning(block.text)) {
        services.push(await startService(script, { folder, env: addresses }));
        return;
      }
      const finished = await run("bash", ["-c", script], {
        cwd: clone ?? folder,
        env: addresses,
        timeout,
      });
      const output = finished.stdout + finished.stderr;
      const logs = services.map(({ output }) => output()).join("\n");
      if (finished.code !== 0)
        throw new Error(`${location} failed with ${finished.code}:\n${block.text}\n${output}\n${logs}`);
      runs.push({ block, output, seconds: (Date.now() - startTime) / 1000 });
    } else if (block.language === "" && block.mark?.kind === "run") {
      const previous = runs.at(-1);
      const missingText = missingLine(block.text, previous?.output ?? "");
      if (missingText !== undefined)
        throw new Error(`${location}: the line was not printed: ${missingText}\n${previous?.output}`);
    }
  };
  try {
    for (const block of page.blocks) {
      if (block.mark?.kind !== "not run" && !skip(block)) await runBlock(block);
    }
    return runs;
  } finally {
    await Promise.all(services.map(({ stop }) => stop()));
    await rm(shell, { recursive: true, force: true });
    await discardServiceFolder(join(folder, ".serverless-compute")).catch((error) => {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    });
  }
}

interface Service {
  output(): string;
  stop(): Promise<void>;
}

/** Starts a command that keeps running, and waits for its first output. Fails if there is none. */
async function startService(script: string, { folder, env }: PageEnvironment): Promise<Service> {
  const child: ChildProcess = spawn("bash", ["-c", script], {
    cwd: folder,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const exit = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const firstOutput = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (pattern) => {
        text += pattern;
        resolve();
      });
  });
  await Promise.race([firstOutput, exit]);
  if (text === "") throw new Error(`the command ended without output: ${script}`);
  return {
    output: () => text,
    stop: async () => {
      endGroup(child, "SIGTERM");
      const timer = setTimeout(() => endGroup(child, "SIGKILL"), 20_000);
      await exit;
      clearTimeout(timer);
    },
  };
}
