import type { Run, RunOptions } from "./pulumi";
import type { RecordingProxy } from "./recording-proxy";

/** Waits until the origin has responded to a matching request. Fails with the run's output if the run ends earlier. */
export async function untilAnswered(
  proxy: RecordingProxy,
  running: Promise<Run>,
  method: string,
  path: RegExp,
): Promise<void> {
  let over: Run | undefined;
  running.then(
    (ended) => {
      over = ended;
    },
    () => {},
  );
  while (!proxy.requests.some((one) => one.method === method && path.test(one.path) && one.status)) {
    if (over) throw new Error(`it ended before ${method} ${path}:\n${over.output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs a command and sends Ctrl-C after the response to a matching request; `interrupted` is the time by Date.now(). */
export async function interruptAfter(
  proxy: RecordingProxy,
  command: (options: RunOptions) => Promise<Run>,
  method: string,
  path: RegExp,
): Promise<Run & { interrupted: number }> {
  const controller = new AbortController();
  const running = command({ interrupt: controller.signal });
  await untilAnswered(proxy, running, method, path);
  controller.abort();
  const interrupted = Date.now();
  return { ...(await running), interrupted };
}
