import type { Run, RunOptions } from "./pulumi";
import type { RecordingProxy } from "./recording-proxy";

/**
 * Runs a command and sends Ctrl-C after the response to a matching request; `interrupted` is the time by Date.now(). Fails with the
 * command's output if the command ends earlier.
 */
export async function interruptAfter(
  proxy: RecordingProxy,
  command: (options: RunOptions) => Promise<Run>,
  method: string,
  path: RegExp,
): Promise<Run & { interrupted: number }> {
  const controller = new AbortController();
  let over: Run | undefined;
  const running = command({ interrupt: controller.signal }).then((ended) => {
    over = ended;
    return ended;
  });
  while (!proxy.requests.some((one) => one.method === method && path.test(one.path) && one.status)) {
    if (over) throw new Error(`it ended before ${method} ${path}:\n${over.output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  controller.abort();
  const interrupted = Date.now();
  return { ...(await running), interrupted };
}
