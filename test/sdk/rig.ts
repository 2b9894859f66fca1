import { fileURLToPath } from "node:url";
import { type Clients, createClients } from "serverless-compute-api";
import type { Service } from "serverless-compute-local";
import type { TestContext } from "vitest";
import { run } from "../../scripts/child.mjs";
import { serviceDefaults, startLocalService } from "../support/local-service";
import type { SdkProgram } from "./programs";

/** Handlers of test/sdk/handlers: programs of the public Python SDK, and modules that need no Python. */
const handlers = [
  "plain.py",
  "generator.py",
  "async.py",
  "refresh.py",
  "unserializable.py",
  "crashing.py",
  "prestart.py",
  "plain.mjs",
  "generator.mjs",
  "chat.mjs",
] as const;
export type HandlerName = (typeof handlers)[number];
const handlerFile = (name: HandlerName): string => fileURLToPath(new URL(`handlers/${name}`, import.meta.url));
const image = (name: HandlerName): string => `sdk/${name.replace(".", "-")}:1`;

/** A local service whose workers run those handlers, and clients to set it up. */
export interface SdkRig {
  service: Service;
  clients: Clients;
  /** Id of a new endpoint with one worker that runs the handler; `workersMin: 0` starts it with the first job. */
  endpoint(handler: HandlerName, scaling?: { workersMin: number }): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Path of a Python. Skips the test if the machine has no Python; throws if its environment could not be created. */
export function pythonOf(python: SdkProgram, context: TestContext): string {
  if ("missing" in python) return context.skip(python.missing);
  if ("failure" in python) throw new Error(python.failure);
  return python.path;
}

/** Runs a Python program of this folder, with the key as its input, and returns its output, one line of JSON. */
export async function runPython(
  python: string,
  name: string,
  { args, apiKey, env, cwd }: { args: string[]; apiKey: string; env: Record<string, string>; cwd?: string },
): Promise<unknown> {
  const program = fileURLToPath(new URL(name, import.meta.url));
  // Arguments are visible in the list of processes.
  const options = { ...(cwd && { cwd }), env: { PATH: process.env["PATH"], ...env }, input: `${apiKey}\n` };
  const { stdout, stderr } = await run(python, [program, ...args], options);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Starts a service with the default flags besides the port and the images; `python` runs the handlers of the Python SDK. */
export async function startRig(python: SdkProgram = { missing: "this test has no Python" }): Promise<SdkRig> {
  const path = "path" in python ? python.path : "python3";
  const command = (file: string): string => (file.endsWith(".py") ? `"${path}" -u "${file}"` : file);
  const images = Object.fromEntries(handlers.map((name) => [image(name), command(handlerFile(name))]));
  const local = await startLocalService({ ...serviceDefaults, images });
  const { service } = local;
  const clients = createClients(service);
  return {
    service,
    clients,
    async endpoint(handler, { workersMin } = { workersMin: 1 }) {
      const { id } = await local.jobsOn(image(handler), { name: handler, workersMin, idleTimeout: 60 });
      return id;
    },
    async [Symbol.asyncDispose]() {
      await clients.close();
      await local.close();
    },
  };
}
