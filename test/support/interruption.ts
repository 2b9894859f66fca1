import type { Run, RunOptions } from "./pulumi";
import type { RecordingProxy } from "./recording-proxy";

/** Waits until the proxy saw a request answered that fits; fails with what was printed when the run ends before. */
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

/** Runs a command and presses Ctrl-C once the proxy saw a request answered that fits; `interrupted` is when, by Date.now(). */
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
