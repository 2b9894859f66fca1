import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Clients, createClients } from "serverless-compute-api";
import { createService, type Service } from "serverless-compute-local";
import { inject, type TestContext } from "vitest";
import { discardServiceFolder } from "../support/service-artefacts";
import type { SdkProgram } from "./setup";

/** Handlers of test/sdk/handlers: programs of the public Python SDK, and modules that need no Python. */
const handlers = [
  "plain.py",
  "generator.py",
  "async.py",
  "refresh.py",
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
  /** Python with the SDK. Where this machine has no Python the test is skipped; where it could not be set up, it fails. */
  python(context: TestContext): string;
  /** Id of a new endpoint with one worker that runs the handler; `workersMin: 0` starts it with the first job. */
  endpoint(handler: HandlerName, scaling?: { workersMin: number }): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Path of a Python. Skips the test where this machine has none; throws where it could not be set up. */
export function pythonOf(python: SdkProgram, context: TestContext): string {
  if ("missing" in python) return context.skip(python.missing);
  if ("failure" in python) throw new Error(python.failure);
  return python.path;
}

/** The service has its default flags, besides the port and the images. */
export async function startRig(): Promise<SdkRig> {
  const python = inject("python");
  const dataFolder = await mkdtemp(join(tmpdir(), "sdk-"));
  const path = "path" in python ? python.path : "python3";
  const command = (file: string): string => (file.endsWith(".py") ? `"${path}" -u "${file}"` : file);
  const images = Object.fromEntries(handlers.map((name) => [image(name), command(handlerFile(name))]));
  const service = await createService({ port: 0, dataFolder, images });
  const clients = createClients(service);
  return {
    service,
    clients,
    python: (context) => pythonOf(python, context),
    async endpoint(handler, { workersMin } = { workersMin: 1 }) {
      const template = await clients.management.createTemplate({
        name: `sdk-${handler}-${randomUUID()}`,
        imageName: image(handler),
        containerDiskInGb: 5,
        volumeInGb: 0,
        isServerless: true,
      });
      const scaling = { workersMin, workersMax: 1, idleTimeout: 60 };
      const { id } = await clients.management.createEndpoint({ templateId: template.id, name: handler, ...scaling });
      return id;
    },
    async [Symbol.asyncDispose]() {
      await clients.close();
      await service.stop(0);
      await discardServiceFolder(dataFolder);
    },
  };
}
