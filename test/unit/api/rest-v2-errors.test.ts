import type { ManagementClient } from "serverless-compute-api";
import { endpointFields, networkVolumeFields, templateFields } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const container = {
  imageName: "acme/chat:1",
  containerDiskInGb: 20,
  dockerArgs: "--fast",
  env: { MODEL: "small" },
  ports: "80/http",
  containerRegistryAuthId: "r1",
};
const endpoint = {
  name: "chat",
  type: "QUEUE",
  dataCenterIds: ["EU-RO-1"],
  networkVolumeIds: ["v1"],
  executionTimeoutMs: 5000,
  flashboot: true,
  ...container,
} as const;
const gpu = { gpuPools: ["AMPERE_24"], excludedGpuTypeIds: ["NVIDIA L4"], minCudaVersion: "12.4" };
const template = {
  name: "chat",
  isServerless: false,
  isPublic: true,
  volumeInGb: 20,
  volumeMountPath: "/models",
  startSsh: true,
  startJupyter: true,
  category: "NVIDIA",
  allowedCudaVersions: ["12.4"],
  ...container,
} as const;
const gpus = [
  { id: "NVIDIA L4", pool: "AMPERE_24" },
  { id: "NVIDIA RTX A5000", pool: "AMPERE_24" },
];

/** Requests that contain every property of REST v2. */
const requests: Record<string, (management: ManagementClient) => Promise<unknown>> = {
  "a GPU endpoint": ({ createEndpoint }) => createEndpoint({ ...endpoint, ...gpu }),
  "an endpoint with allowed CUDA versions": ({ createEndpoint }) =>
    createEndpoint({ ...endpoint, allowedCudaVersions: ["12.4"] }),
  "a CPU endpoint that scales by requests": ({ createEndpoint }) =>
    createEndpoint({ ...endpoint, computeType: "CPU", scalerType: "REQUEST_COUNT" }),
  "changes of an endpoint": ({ updateEndpoint }) =>
    updateEndpoint("e1", { ...container, workersMin: 1, workersMax: 2, scalerValue: 3, gpuCount: 2 }),
  "a template": ({ createTemplate }) => createTemplate(template),
  "changes of a template": ({ updateTemplate }) => updateTemplate("t1", template),
  "a network volume": ({ createNetworkVolume }) =>
    createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1", type: "STANDARD" }),
};

/** The names of all properties; the volumes of a body may be those of both properties. */
const properties = [
  ...Object.keys({ ...endpointFields, ...templateFields, ...networkVolumeFields }),
  "networkVolumeId(s)",
];

/** Paths of all values in a body, with those of the objects and lists that contain them. */
const pathsIn = (value: unknown, path = ""): string[] =>
  typeof value !== "object" || value === null
    ? [path]
    : [
        ...(path === "" ? [] : [path]),
        ...Object.entries(value).flatMap(([key, item]) => {
          const step = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
          return pathsIn(item, path + step);
        }),
      ];

test.each(Object.entries(requests))("rejections of %s name the property of the client", async (_, send) => {
  let detail = "";
  let errors: string[] = [];
  let status = 422;
  const rig = await startRig(
    ({ method }) =>
      method === "GET"
        ? json({ gpus, id: "e1", name: "chat" })
        : json({ title: "Invalid", status, detail, errors }, status),
    { dialect: "v2" },
  );
  const messageOf = async (): Promise<string> => (await apiErrorOf(send(rig.clients.management))).message;
  await messageOf();
  const sent: unknown = JSON.parse(rig.requests.at(-1)?.body ?? "");
  // Their parts are properties.
  const paths = pathsIn(sent).filter((path) => !["gpu", "workers"].includes(path));
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) {
    detail = `${path}: "a: b" is not allowed`;
    errors = [];
    const plain = await messageOf();
    expect({ path, property: /^[^:.[]+/.exec(plain)?.[0] }).toEqual({ path, property: expect.toBeOneOf(properties) });
    expect(plain).toMatch(/: "a: b" is not allowed$/);
    detail = "Request validation failed.";
    errors = [`$.${path}: is not allowed`, `$.${path}: must be short`];
    const [name = ""] = plain.split(":");
    expect(await messageOf()).toBe(`Request validation failed: ${name}: is not allowed; ${name}: must be short`);
    errors = [];
    for (const [otherStatus, problem] of [
      [422, "does not exist"],
      [409, "is in use"],
      [409, "differs from the pool"],
    ] as const) {
      status = otherStatus;
      detail = `${path}: ${problem}`;
      expect(await messageOf()).toBe(`${name}: ${problem}`);
    }
    status = 422;
  }
});

test("names in a sentence, or of other objects, stay as they are", async () => {
  const detail = 'image "registry: a/b" is not in its registry; the timeout: of "cpu"';
  const { clients } = await startRig(() => json({ detail, status: 422 }, 422), { dialect: "v2" });
  const error = await apiErrorOf(clients.management.createTemplate(template));
  expect(error.message).toBe(detail);
});

test.each([
  ["cpu[0].vcpuCount", "vcpuCount"],
  ["$.cpu[1].vcpuCount", "vcpuCount"],
  ["cpu[0].id", "cpuFlavorIds[0].id"],
])("the rejection of %s names %s", async (path, name) => {
  const detail = `${path}: must be even`;
  const { clients } = await startRig(() => json({ detail, status: 422 }, 422), { dialect: "v2" });
  const error = await apiErrorOf(clients.management.updateEndpoint("e1", { vcpuCount: 3 }));
  expect(error.message).toBe(`${name}: must be even`);
});

test.each([
  [504, "timeout: upstream took too long"],
  [503, "registry: unavailable"],
  [408, "timeout: request"],
  [403, "image: access denied"],
])("the text of a response with status %i is not about the body: %s", async (status, detail) => {
  const { clients, failure } = await startRig(() => json({ detail, status }, status), { dialect: "v2" });
  const error = await failure(clients.management.createTemplate(template));
  expect(error.message).toBe(detail);
});
