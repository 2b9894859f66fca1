import { createClients } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { json, startFaultyServer } from "../support/faulty-server";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { endpointRecord, templateRecord, volumeRecord } from "../support/records";
import type { ObjectKind } from "./support/kinds";

const bench = await useLifecycleBench();

describe("fields and values added by the service are not drift", () => {
  /** Reads an object from an artificial response with the state of a deployment of `news`. Returns the differences. */
  async function changesOf(kind: ObjectKind, news: Properties, response: object): Promise<string[]> {
    const id = String(propertiesIn(response)["id"]);
    const server = await startFaultyServer(({ url, body }) => {
      if (body.includes("podTemplates")) return json({ data: { myself: { podTemplates: [response] } } });
      if (body.includes("secrets")) return json({ data: { myself: { secrets: [response] } } });
      if (body.includes("containerRegistryCreds"))
        return json({ data: { myself: { containerRegistryCreds: [response] } } });
      return json(url.endsWith(id) ? response : [response]);
    });
    const { origin } = server;
    const addresses = { baseUrl: `${origin}/v1`, graphqlUrl: `${origin}/graphql`, serverlessUrl: origin };
    const clients = createClients({ apiKey: "sck-key-of-the-test", ...addresses });
    onTestFinished(async () => {
      await clients.close();
      await server.close();
    });
    const lifecycle = kinds[kind];
    const inputs = lifecycle.check({}, news, naming("chat-dev")).inputs;
    const readResult = await lifecycle.read(id, inputs, bench.context({ clients }));
    return lifecycle.diff(readResult?.outputs ?? {}, inputs).map(({ path }) => path.join("."));
  }

  const endpoint = { templateId: "30zmvf89kd", gpuTypeIds: ["NVIDIA L4"] };
  const template = { imageName: "ghcr.io/acme/chat:1.4.2", containerDiskInGb: 20, env: { MODEL: "mistral-7b" } };
  /** The properties that every record of an endpoint contains. */
  const required = { id: "jpnw0v75y3qoql", name: "chat-dev", ...endpoint };
  const described = { allowedCudaVersions: ["12.4"], executionTimeoutMs: 60_000, idleTimeout: 7 };
  const defaults = {
    gpuCount: 1,
    vcpuCount: 2,
    idleTimeout: 5,
    scalerType: "QUEUE_DELAY",
    scalerValue: 4,
    flashboot: false,
    executionTimeoutMs: 600_000,
    computeType: "GPU",
  };
  /** Records of an endpoint, and additional inputs of its program. */
  const endpoints: [string, object, Properties?][] = [
    ["the suffix -fb", endpointRecord({ name: "chat-dev-fb" })],
    ["no computeType", endpointRecord({ computeType: undefined })],
    ["a null computeType", endpointRecord({ computeType: null })],
    ["explicit defaults", endpointRecord(defaults)],
    ["only required fields", required],
    [
      "only the fields that REST v1 describes",
      { ...required, networkVolumeId: "v1", ...described },
      { ...described, networkVolumeIds: ["v1", "v2"], minCudaVersion: "12.1", flashboot: true },
    ],
    [
      "instance ids for CPU flavours and virtual CPUs",
      { ...required, gpuTypeIds: undefined, computeType: "CPU", instanceIds: ["cpu3c-8-16", "cpu5c-8-16"] },
      { gpuTypeIds: [], computeType: "CPU", cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 8 },
    ],
    [
      "null lists",
      endpointRecord({ dataCenterIds: null, allowedCudaVersions: null, networkVolumeIds: null, cpuFlavorIds: null }),
    ],
    ["empty strings for absent values", endpointRecord({ networkVolumeId: "", minCudaVersion: "" })],
    [
      "unknown keys",
      endpointRecord({ env: {}, workers: [], template: {}, userId: "u", version: 7, createdAt: "x", aiKey: null }),
    ],
    ["lists in another order", endpointRecord({ dataCenterIds: ["B", "A"] }), { dataCenterIds: ["A", "B"] }],
    [
      "a volume under both names",
      endpointRecord({ networkVolumeId: "v", networkVolumeIds: ["v"] }),
      { networkVolumeId: "v" },
    ],
  ];
  const others: [string, ObjectKind, object, Properties][] = [
    ["null for empty values", "Template", templateRecord(), template],
    [
      "unknown keys",
      "Template",
      templateRecord({ isPublic: false, category: "NVIDIA", startSsh: true, earned: 0, createdAt: "x" }),
      template,
    ],
    [
      "env as a map, ports as a list",
      "Template",
      templateRecord({ env: { MODEL: "mistral-7b" }, ports: ["80/http", "22/tcp"] }),
      { ...template, ports: "80/http, 22/tcp" },
    ],
    [
      "unknown keys",
      "NetworkVolume",
      volumeRecord({ createdAt: 1, dataCenter: { id: "EU-RO-1" } }),
      { name: "models-dev", size: 100, dataCenterId: "EU-RO-1" },
    ],
    ["no description", "Secret", { id: "s1", name: "chat-dev", description: null, createdAt: 17 }, { value: "v" }],
    [
      "unknown keys",
      "ContainerRegistryAuth",
      { id: "r1", name: "chat-dev", username: "someone" },
      { username: "u", password: "p" },
    ],
  ];
  test.each(endpoints)("%s (ServerlessEndpoint)", async (_, response, more = {}) => {
    expect(await changesOf("ServerlessEndpoint", { ...endpoint, ...more }, response)).toEqual([]);
  });
  test.each(others)("%s (%s)", async (_, kind, response, news) => {
    expect(await changesOf(kind, news, response)).toEqual([]);
  });
});
