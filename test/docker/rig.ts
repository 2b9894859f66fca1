import { randomUUID } from "node:crypto";
import { createClients } from "serverless-compute-api";
import type { Service, ServiceOptions } from "serverless-compute-local";
import { inject, onTestFinished, type TestContext } from "vitest";
import { z } from "zod";
import { findEngine } from "../../service/workers/runtimes/container/engine-address";
import { createEngineClient, type EngineClient } from "../../service/workers/runtimes/container/engine-client";
import { labels } from "../../service/workers/runtimes/container/removal";
import { serviceDefaults, useLocalService } from "../support/local-service";
import { send, stringAt } from "../support/raw-http";

/** A container as the engine lists it. */
const containerShape = z.looseObject({ Id: z.string(), State: z.string(), Labels: z.record(z.string(), z.string()) });
type ListedContainer = z.output<typeof containerShape>;

/** Options of a test endpoint. */
interface EndpointOptions {
  image?: string;
  dockerArgs?: string;
  env?: Record<string, string>;
  containerRegistryAuthId?: string;
  volumeMountPath?: string;
  /** Additional fields of the endpoint. */
  endpoint?: object;
  /** Default: 5. */
  containerDiskInGb?: number;
}

/** The engine of the tests; without an engine, the test is skipped. */
export function useTestEngine(context: TestContext) {
  const engine = inject("engine");
  if ("missing" in engine) {
    console.warn(`skipped: ${context.task.name}: ${engine.missing}`);
    return context.skip(engine.missing);
  }
  process.env["DOCKER_HOST"] = engine.host;
  return { ...engine, client: createEngineClient(findEngine({ DOCKER_HOST: engine.host })) };
}

/** The image of Python with the public SDK; without Python on this machine, the test is skipped. */
export function usePythonImage(context: TestContext): string {
  const { python } = useTestEngine(context);
  if ("missing" in python) return context.skip(python.missing);
  if ("failure" in python) throw new Error(python.failure);
  return python.image;
}

/** The containers of a data folder. */
export async function containersOf(client: EngineClient, dataFolder: string): Promise<ListedContainer[]> {
  const filters = JSON.stringify({ label: [`${labels.data}=${dataFolder}`] });
  return z.array(containerShape).parse(await client.call("GET", "/containers/json", { query: { all: "1", filters } }));
}

/** Starts a service whose workers are containers, stopped after the test. */
export async function startRig(context: TestContext, options: ServiceOptions = {}) {
  const engine = useTestEngine(context);
  const { service, dataFolder, workerLog } = await useLocalService({
    ...serviceDefaults,
    runtime: "docker",
    ...options,
  });
  const clients = createClients(service);
  onTestFinished(() => clients.close());
  return {
    ...engine,
    dataFolder,
    service,
    clients,
    containers: () => containersOf(engine.client, dataFolder),
    endpoint: (of: EndpointOptions = {}) => createEndpoint(service, { image: engine.image, ...of }),
    /** Runs a job and returns its output. */
    async output(endpointId: string, input: Record<string, unknown>): Promise<unknown> {
      const record = await clients.jobs.runsync(endpointId, { input });
      if (record.status !== "COMPLETED") throw new Error(`the job is ${record.status}: ${record.error}`);
      return record.output;
    },
    log: (endpointId: string) => workerLog(endpointId).catch(() => ""),
  };
}

type Addresses = Pick<Service, "apiKey" | "baseUrl" | "graphqlUrl">;

/** Creates a template and an endpoint by raw HTTP, and returns the endpoint's id. */
export async function createEndpoint(service: Addresses, of: EndpointOptions): Promise<string> {
  const {
    image = "",
    dockerArgs = "",
    env = {},
    volumeMountPath = "",
    containerRegistryAuthId = "",
    containerDiskInGb = 5,
  } = of;
  const post = (url: string, json: object) => send("POST", url, { key: service.apiKey, json });
  const input = {
    name: `docker-${randomUUID()}`,
    imageName: image,
    containerDiskInGb,
    volumeInGb: 0,
    isServerless: true,
    dockerArgs,
    env: Object.entries(env).map(([key, value]) => ({ key, value })),
    volumeMountPath,
    containerRegistryAuthId,
  };
  const query = "mutation ($input: SaveTemplateInput) { saveTemplate(input: $input) { id } }";
  const saved = await post(service.graphqlUrl, { query, variables: { input } });
  const templateId = stringAt(saved, "data", "saveTemplate", "id");
  const fields = { templateId, name: "docker", workersMin: 0, workersMax: 1, ...of.endpoint };
  return stringAt(await post(`${service.baseUrl}/endpoints`, fields), "id");
}
