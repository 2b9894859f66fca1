import { type Clients, createClients, type Dialect } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import type { Kind } from "../../../provider/resources";
import { type Behaviour, json, type ReceivedRequest, startFaultyServer } from "../../support/faulty-server";
import type { ObjectKind } from "./kinds";

/** Objects as each dialect returns them, with the settings of a program without optional properties. */

const container = {
  image: "acme/echo:1",
  args: "",
  entrypoint: [],
  cmd: [],
  disk: 50,
  env: {},
  ports: [],
  registry: null,
};
const v2Endpoint = {
  id: "e1",
  name: "chat-dev",
  type: "QUEUE",
  ...container,
  env: { SERVERLESS_COMPUTE_TEMPLATE_ID: "t1" },
  gpu: { pools: ["ADA_24"], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
  workers: { min: 0, max: 3, idleTimeout: 5 },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  dataCenterIds: [],
  networkVolumes: [],
  timeout: 600_000,
  flashboot: "OFF",
  createdAt: "2026-11-01T00:00:00Z",
};
const v1Template = {
  id: "t1",
  name: "chat-dev",
  imageName: "acme/echo:1",
  containerDiskInGb: 50,
  volumeInGb: 0,
  dockerArgs: "",
  env: [],
  ports: "",
  readme: "",
  volumeMountPath: "/workspace",
  isServerless: true,
  containerRegistryAuthId: "",
};
const v1Endpoint = {
  id: "e1",
  name: "chat-dev",
  templateId: "t1",
  computeType: "GPU",
  gpuTypeIds: [],
  gpuCount: 1,
  idleTimeout: 5,
  dataCenterIds: [],
  allowedCudaVersions: [],
  minCudaVersion: "",
  networkVolumeIds: [],
  flashboot: false,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
  executionTimeoutMs: 600_000,
};

/** Records of objects whose programs contain only the required properties. */
export const records = {
  v1: {
    Template: v1Template,
    ServerlessEndpoint: v1Endpoint,
    NetworkVolume: { id: "v1", name: "chat-dev", size: 10, dataCenterId: "EU-RO-1" },
    Secret: { id: "s1", name: "chat-dev", description: "" },
    ContainerRegistryAuth: { id: "r1", name: "chat-dev" },
  },
  v2: {
    Template: {
      id: "t1",
      name: "chat-dev",
      ...container,
      mounts: {},
      serverless: true,
      public: false,
      category: "NVIDIA",
      startSsh: true,
      startJupyter: true,
      allowedCudaVersions: [],
    },
    ServerlessEndpoint: v2Endpoint,
    NetworkVolume: { id: "v1", name: "chat-dev", size: 10, dataCenter: "EU-RO-1", type: "STANDARD" },
    Secret: { id: "s1", name: "chat-dev", description: null },
    ContainerRegistryAuth: { id: "r1", name: "chat-dev" },
  },
} satisfies Record<Dialect, Record<ObjectKind, { id: string; [field: string]: unknown }>>;

const each = { secure: 1, community: 1 };
const gpus = [
  { id: "NVIDIA L4", pool: "ADA_24" },
  { id: "NVIDIA A40", pool: "AMPERE_48" },
  { id: "NVIDIA A100 80GB PCIe", pool: "AMPERE_80" },
].map((record) => ({
  ...record,
  name: record.id,
  manufacturer: "NVIDIA",
  memory: 24,
  secure: true,
  community: true,
  price: each,
  maxCount: each,
}));

const pagination = { nextCursor: null, hasNextPage: false };
const rollout = { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 };

function v2Response({ url }: ReceivedRequest, kind: Kind, record: object): Behaviour {
  if (url.includes("/catalog/gpus")) return json({ gpus });
  if (url.includes("/templates/")) return json(kind === "Template" ? record : records.v2.Template);
  if (url.includes("/releases")) return json({ releases: [], rollout, endpointVersion: 1, pagination });
  if (url.includes("/templates"))
    return json({ templates: [kind === "Template" ? record : records.v2.Template], pagination });
  return json({ endpoints: [record], networkVolumes: [record], secrets: [record], registries: [record], pagination });
}

function v1Response({ url, body }: ReceivedRequest, kind: Kind, record: object): Behaviour {
  const template = kind === "Template" ? record : v1Template;
  if (body.includes("serverlessGpuPools")) {
    const serverlessGpuPools = gpus.map(({ id, pool }) => ({ id: pool, gpuTypeIds: [id] }));
    return json({ data: { gpuTypes: gpus, serverlessGpuPools } });
  }
  if (body.includes("myself"))
    return json({
      data: { myself: { podTemplates: [template], secrets: [record], containerRegistryCreds: [record] } },
    });
  if (body.includes("podTemplate")) return json({ data: { podTemplate: template } });
  return json(/\/(e1|v1)(\?|$)/.test(url.replace("/v1/", "/")) ? record : [record]);
}

/** Creates clients of a service that returns one object as `record`; closed after the test. */
export async function clientsReturning(dialect: Dialect, kind: Kind, record: object): Promise<Clients> {
  const respond = dialect === "v1" ? v1Response : v2Response;
  const { origin } = await startFaultyServer((request) => respond(request, kind, record));
  // The same for every server, because the address of an endpoint is an output.
  const serverlessUrl = "http://127.0.0.1:9";
  const addresses = { baseUrl: `${origin}/${dialect}`, graphqlUrl: `${origin}/graphql`, serverlessUrl };
  const clients = createClients({ apiKey: "sck-key-of-the-test", ...addresses });
  onTestFinished(() => clients.close());
  return clients;
}
