import { lastLines, run } from "../../scripts/child.mjs";

/**
 * Runs a command for at most five minutes; `env` is added to the environment. Returns its output without surrounding blanks, and
 * throws an error with its last lines if it fails.
 */
export async function runChecked(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const finished = await run(command, args, { ...options, env, timeout: 300_000 });
  if (finished.code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${lastLines(finished, 30)}`);
  return finished.stdout.trim();
}
