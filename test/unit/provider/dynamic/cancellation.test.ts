import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:http2";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import {
  createCancellation,
  openServers,
  shutdownTimeout,
  watchCancelCalls,
} from "../../../../provider/engine/cancellation";
import { listenOnLoopback } from "../../../support/loopback";

const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("cancelling", () => {
  it("signals running and later verbs until a new deployment begins", async () => {
    const cancellation = createCancellation();
    const running = cancellation.run(untilAborted);
    await Promise.resolve();
    cancellation.cancel();
    await expect(running).rejects.toThrow("the deployment was cancelled");
    expect(await cancellation.run(async (signal) => signal.aborted)).toBe(true);
    cancellation.reset();
    expect(await cancellation.run(async (signal) => signal.aborted)).toBe(false);
  });

  it("waits for cleanup", async () => {
    const cancellation = createCancellation();
    const steps: string[] = [];
    const verb = cancellation.run(async (signal) => {
      await untilAborted(signal).catch(() => steps.push("cancelled"));
      await new Promise((resolve) => setTimeout(resolve, 5));
      steps.push("cleaned up");
    });
    await Promise.resolve();
    cancellation.cancel();
    await cancellation.waitUntilIdle();
    steps.push("idle");
    await verb;
    expect(steps).toEqual(["cancelled", "cleaned up", "idle"]);
  });

  it("turns a verb's exception into a rejection and forgets the verb", async () => {
    const cancellation = createCancellation();
    const broken = (): never => {
      throw new Error("at once");
    };
    await expect(cancellation.run(broken)).rejects.toThrow("at once");
    await cancellation.waitUntilIdle();
  });
});

describe("watching for the engine's Cancel", () => {
  it("receives it in addition to the server's own handler, and no other call", async () => {
    const server = createServer();
    server.on("stream", (stream) => void stream.respond({ ":status": 200 }, { endStream: true }));
    const origin = await listenOnLoopback(server);
    let cancellations = 0;
    watchCancelCalls(openServers(), () => {
      cancellations += 1;
    });
    const client = connect(origin);
    const call = async (method: string): Promise<void> => {
      const stream = client.request({ ":method": "POST", ":path": `/pulumirpc.ResourceProvider/${method}` });
      stream.resume();
      await once(stream, "close");
    };
    await call("GetPluginInfo");
    const before = cancellations;
    await call("Cancel");
    client.close();
    server.close();
    expect([before, cancellations]).toEqual([0, 1]);
  });
});

describe("a process that obeys the engine", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** A process with one running verb that needs `cleanup` ms to end after its cancellation; without `cleanup`, no verb runs. */
  async function startProcess(cleanup?: number, limit = shutdownTimeout): Promise<ChildProcess> {
    const script = fileURLToPath(new URL("./obeying-process.ts", import.meta.url));
    const child = fork(script, [String(cleanup ?? "none"), String(limit)], { execArgv: ["--import", "tsx"] });
    children.push(child);
    await once(child, "message");
    return child;
  }

  const interrupted = async (child: ChildProcess): Promise<{ signal: unknown; output: unknown[] }> => {
    const output: unknown[] = [];
    child.on("message", (text) => output.push(text));
    child.kill("SIGINT");
    // Its last message may arrive after its end.
    const [[, signal]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
    return { signal, output };
  };

  it("ends immediately at SIGINT without a running verb", async () => {
    // The limit is longer than this test may take.
    const { signal } = await interrupted(await startProcess(undefined, 600_000));
    expect(signal).toBe("SIGINT");
  });

  it("lets a running verb clean up first", async () => {
    const { signal, output } = await interrupted(await startProcess(300));
    expect({ signal, output }).toEqual({ signal: "SIGINT", output: ["cancelled", "cleaned up"] });
  });

  it("ends before the engine kills it, even if a verb keeps running", async () => {
    const { signal, output } = await interrupted(await startProcess(600_000, 200));
    expect({ signal, output }).toEqual({ signal: "SIGINT", output: ["cancelled"] });
    expect(shutdownTimeout).toBeLessThan(4500);
  });
});
