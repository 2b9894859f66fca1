import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** The stack for commands of the Pulumi CLI, which has its own defaults for both. */
export interface StackChoice {
  stack?: string | undefined;
  /** Folder of the program. */
  cwd?: string | undefined;
}

/** The arguments that select the stack. */
export const stackArguments = ({ stack, cwd }: StackChoice): string[] => [
  ...(cwd === undefined ? [] : ["--cwd", cwd]),
  ...(stack === undefined ? [] : ["--stack", stack]),
];

/** The Pulumi CLI of PATH. Its messages appear on stderr as they come. */
export function pulumiCli(choice: StackChoice) {
  const execute = async (args: string[], { input, capture = false }: { input?: string; capture?: boolean } = {}) => {
    const child = spawn("pulumi", [...args, "--non-interactive", ...stackArguments(choice)], {
      stdio: ["pipe", capture ? "pipe" : 2, 2],
      // The CLI rejects --preview-only together with this setting of many CI jobs; other commands here pass --yes.
      env: {
        ...process.env,
        PULUMI_SKIP_CONFIRMATIONS: undefined,
        // Without it, the JSON of a refresh lacks the changes of dynamic resources.
        PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true",
      },
    });
    const exit = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    // A command that ends early closes its input; its exit code has the reason.
    child.stdin?.once("error", () => undefined).end(input ?? "");
    const [code, output] = await Promise.all([exit, child.stdout ? text(child.stdout) : ""]).catch((cause) => {
      throw new Error("the Pulumi CLI could not be started; install it, or add its folder to PATH", { cause });
    });
    return { code, output, failure: new Error(`\`pulumi ${args.join(" ")}\` failed (exit code ${code})`) };
  };
  const runChecked = async (...parameters: Parameters<typeof execute>): Promise<string> => {
    const { code, output, failure } = await execute(...parameters);
    if (code !== 0) throw failure;
    return output;
  };
  return {
    /** The stack's state; secrets as plain text, for this process only, or as ciphertext. */
    exportState: ({ showSecrets }: { showSecrets: boolean }): Promise<string> =>
      runChecked(["stack", "export", ...(showSecrets ? ["--show-secrets"] : [])], { capture: true }),
    /** Replaces the stack's state. The CLI removes all pending operations from it. */
    importState: (state: string): Promise<string> => runChecked(["stack", "import"], { input: state }),
    /** The JSON events of a refresh that changes nothing; their diagnostics contain the reason of a failure. */
    async previewRefresh(): Promise<string> {
      const { code, output, failure } = await execute(["refresh", "--preview-only", "--json"], { capture: true });
      if (code !== 0 && output.trim() === "") throw failure;
      return output;
    },
    refresh: (): Promise<string> => runChecked(["refresh", "--yes", "--skip-preview", "--suppress-outputs"]),
  };
}
