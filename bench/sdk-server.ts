import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { findPython } from "../test/sdk/programs";
import { stopProcess } from "./processes";

/** Prevents network access by the SDK, which otherwise calls a public address at start. */
export const sdkEnvironment = {
  RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
  RUNPOD_SKIP_GPU_CHECK: "true",
  DO_NOT_TRACK: "1",
};

/** The in-process server of the public Python SDK, without queue or durability; the peer of the measurements. */
export interface SdkServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/** Python with the SDK, as installed by test/sdk. */
export async function sdkPython(): Promise<string> {
  const python = await findPython();
  if ("path" in python) return python.path;
  throw new Error("missing" in python ? python.missing : python.failure);
}

/** Starts `handler.py --rp_serve_api` and waits until it responds. */
export async function startSdkServer(): Promise<SdkServer> {
  const port = await freePort();
  const handler = join(__dirname, "sdk-handler.py");
  const flags = [
    "--rp_serve_api",
    "--rp_api_host",
    "127.0.0.1",
    "--rp_api_port",
    String(port),
    "--rp_log_level",
    "ERROR",
  ];
  const child = spawn(await sdkPython(), ["-u", handler, ...flags], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...sdkEnvironment },
  });
  const url = `http://127.0.0.1:${port}/runsync`;
  const responds = async (): Promise<boolean> => {
    const body = JSON.stringify({ input: { prompt: "ping" } });
    const headers = { "content-type": "application/json" };
    return fetch(url, { method: "POST", headers, body }).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  for (let attempts = 0; !(await responds()); attempts++) {
    if (attempts === 600 || child.exitCode !== null) throw new Error("the SDK's server did not start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, pid: child.pid ?? 0, stop: () => stopProcess(child) };
}
