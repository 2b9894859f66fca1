import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished, type TestContext } from "vitest";
import { z } from "zod";
import { readApiKey } from "../../service/store/api-key";
import { freePort } from "../support/loopback";
import { logTails } from "../support/service-artefacts";

const program = fileURLToPath(new URL("../../service/bin/serverless-compute-local.js", import.meta.url));
const addressLine = z.object({ baseUrl: z.string(), graphqlUrl: z.string(), serverlessUrl: z.string() });

interface ServiceSettings {
  kubeconfig: string;
  namespace: string;
  dataFolder: string;
  /** Address of this machine that pods reach. */
  address: string;
}

/**
 * Starts the built service as a process whose workers are pods. It has the same ports after each start. The test's end kills it; a
 * failing test prints its logs.
 */
export async function useServiceProcess(context: TestContext, settings: ServiceSettings) {
  const { dataFolder } = settings;
  const [port, workerPort] = [await freePort(), await freePort()];
  const words = ["start", "--port", String(port), "--data", dataFolder, "--json", "--no-console"];
  words.push("--runtime", "kubernetes", "--namespace", settings.namespace);
  words.push("--worker-url", `http://${settings.address}:${workerPort}`);
  let child: ChildProcess;

  async function launch() {
    const env = { ...process.env, KUBECONFIG: settings.kubeconfig };
    const started = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"], env });
    child = started;
    const errors = text(started.stderr);
    const line = once(createInterface(started.stdout), "line");
    const [first] = await Promise.race([
      line,
      errors.then((output) => Promise.reject(new Error(`the service has ended: ${output}`))),
    ]);
    return addressLine.parse(JSON.parse(String(first)));
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
  onTestFinished(async () => {
    await end("SIGKILL");
    if (context.task.result?.state === "fail") console.error(await logTails(dataFolder));
  });
  const addresses = await launch();
  return {
    ...addresses,
    apiKey: readApiKey(dataFolder) ?? "",
    /** Id of the current process. */
    pid: () => child.pid ?? 0,
    end,
    /** Starts the service again. It ends without an API server, and is then started again, as by a Deployment. */
    async start(): Promise<void> {
      for (;;) {
        try {
          await launch();
          return;
        } catch (error) {
          if (!/the Kubernetes API at \S+ (does not respond|closed the connection)/.test(String(error))) throw error;
        }
        await pause(500);
      }
    },
  };
}
