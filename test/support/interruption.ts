import type { Run, RunOptions } from "./pulumi";
import type { RecordingProxy } from "./recording-proxy";

/** Runs a command and sends Ctrl-C after the response to a matching request. Fails with the command's output if it ends earlier. */
export async function interruptAfter(
  proxy: RecordingProxy,
  command: (options: RunOptions) => Promise<Run>,
  method: string,
  path: RegExp,
): Promise<Run> {
  const controller = new AbortController();
  let finished: Run | undefined;
  const running = command({ interrupt: controller.signal, end: "failure" }).then((run) => {
    finished = run;
    return run;
  });
  while (!proxy.requests.some((request) => request.method === method && path.test(request.path) && request.status)) {
    if (finished) throw new Error(`the command ended before ${method} ${path}:\n${finished.output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  controller.abort();
  return running;
}
