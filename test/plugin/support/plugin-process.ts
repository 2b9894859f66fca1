import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import type { Readable } from "node:stream";
import { Client, credentials } from "@grpc/grpc-js";

/** A plugin process, started as by the engine, that has printed its port. */
export interface PluginProcess {
  child: ChildProcessByStdio<null, Readable, Readable>;
  pid: number;
  /** Standard output so far: the port. */
  output(): string;
  /** Standard error so far. */
  errorOutput(): string;
  /** Calls the provider's service with an empty request. Returns the response's bytes. */
  call(call: string): Promise<Buffer>;
}

/** Starts the executable with the address of a missing engine; `node` is this run's. */
export async function startPlugin(
  launcher: string,
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<PluginProcess> {
  const { PATH = "", ...rest } = process.env;
  const environment = { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${PATH}`, ...env };
  const child = spawn(launcher, ["127.0.0.1:9"], { stdio: ["ignore", "pipe", "pipe"], env: environment, cwd });
  let [output, errorOutput] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errorOutput += text;
  });
  await Promise.race([once(child.stdout, "data"), once(child, "close")]);
  if (child.pid === undefined || output === "") throw new Error(`the plugin printed no port: ${errorOutput}`);
  return {
    child,
    pid: child.pid,
    output: () => output,
    errorOutput: () => errorOutput,
    call: (call) => callPlugin(Number(output), call),
  };
}

const identity = (bytes: Buffer): Buffer => bytes;

function callPlugin(port: number, call: string): Promise<Buffer> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return new Promise<Buffer>((resolve, reject) => {
    const path = `/pulumirpc.ResourceProvider/${call}`;
    client.makeUnaryRequest(path, identity, identity, Buffer.alloc(0), (error, response) =>
      error || !response ? reject(error ?? new Error(`${call} returned no response`)) : resolve(response),
    );
  }).finally(() => client.close());
}
