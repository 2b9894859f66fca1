import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Clients, createClients } from "serverless-compute-api";
import { createService, type Service } from "serverless-compute-local";
import { inject, type TestContext } from "vitest";
import { discardServiceFolder } from "../support/service-artefacts";

const handlerFile = (name: string): string => fileURLToPath(new URL(`handlers/${name}.py`, import.meta.url));
const handlers = ["plain", "generator", "async", "refresh"] as const;
export type HandlerName = (typeof handlers)[number];

/** A local service whose workers run the public Python SDK, and clients to set it up. */
export interface SdkRig {
  service: Service;
  clients: Clients;
  /** Python with the SDK; skips the test, saying why, where there is none. */
  python(context: TestContext): string;
  /** Id of a new endpoint with one worker that runs the handler. */
  endpoint(handler: HandlerName): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRig(): Promise<SdkRig> {
  const { path, missing } = inject("python");
  const dataFolder = await mkdtemp(join(tmpdir(), "sdk-"));
  const images = Object.fromEntries(handlers.map((name) => [`sdk/${name}:1`, `"${path}" -u "${handlerFile(name)}"`]));
  // The SDK's own clients read a stream as {status, stream}.
  const service = await createService({ port: 0, dataFolder, images, stream: "envelope" });
  const clients = createClients(service);
  return {
    service,
    clients,
    python: (context) => (missing ? context.skip(missing) : path),
    async endpoint(handler) {
      const template = await clients.management.saveTemplate({
        name: `sdk-${handler}-${Date.now()}`,
        imageName: `sdk/${handler}:1`,
        containerDiskInGb: 5,
        volumeInGb: 0,
        dockerArgs: "",
        env: [],
        isServerless: true,
      });
      const scaling = { workersMin: 1, workersMax: 1, idleTimeout: 60 };
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
