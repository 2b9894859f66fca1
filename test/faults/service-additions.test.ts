import { createClients } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { json, startFaultyServer } from "../support/faulty-server";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { endpointAnswer, templateAnswer, volumeAnswer } from "../support/records";
import type { ObjectKind } from "./support/kinds";

const bench = await useLifecycleBench();

describe("fields and values added by the service are not drift", () => {
  /** Reads an object from a made-up response with the state of a deployment of `news`. Returns the differences. */
  async function changesOf(kind: ObjectKind, news: Properties, answer: object): Promise<string[]> {
    const id = String(propertiesIn(answer)["id"]);
    const server = await startFaultyServer(({ url, body }) => {
      if (body.includes("podTemplates")) return json({ data: { myself: { podTemplates: [answer] } } });
      if (body.includes("secrets")) return json({ data: { myself: { secrets: [answer] } } });
      if (body.includes("containerRegistryCreds"))
        return json({ data: { myself: { containerRegistryCreds: [answer] } } });
      return json(url.endsWith(id) ? answer : [answer]);
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
    const reading = await lifecycle.read(id, inputs, bench.context({ clients }));
    return lifecycle.diff(reading?.outputs ?? {}, inputs).map(({ path }) => path.join("."));
  }

  const endpoint = { templateId: "30zmvf89kd", gpuTypeIds: ["NVIDIA L4"] };
  const template = { imageName: "ghcr.io/acme/chat:1.4.2", containerDiskInGb: 20, env: { MODEL: "mistral-7b" } };
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
  const rows: [string, ObjectKind, Properties, object][] = [
    ["the suffix -fb", "ServerlessEndpoint", endpoint, endpointAnswer({ name: "chat-dev-fb" })],
    ["no computeType", "ServerlessEndpoint", endpoint, endpointAnswer({ computeType: undefined })],
    ["a computeType of null", "ServerlessEndpoint", endpoint, endpointAnswer({ computeType: null })],
    ["all defaults spelled out", "ServerlessEndpoint", endpoint, endpointAnswer(defaults)],
    [
      "nothing but what it must",
      "ServerlessEndpoint",
      endpoint,
      { id: "jpnw0v75y3qoql", name: "chat-dev", templateId: "30zmvf89kd", gpuTypeIds: ["NVIDIA L4"] },
    ],
    [
      "only the fields that REST v1 describes",
      "ServerlessEndpoint",
      {
        ...endpoint,
        networkVolumeIds: ["v1", "v2"],
        minCudaVersion: "12.1",
        flashboot: true,
        allowedCudaVersions: ["12.4"],
        executionTimeoutMs: 60_000,
        idleTimeout: 7,
      },
      {
        id: "jpnw0v75y3qoql",
        name: "chat-dev",
        templateId: "30zmvf89kd",
        gpuTypeIds: ["NVIDIA L4"],
        networkVolumeId: "v1",
        allowedCudaVersions: ["12.4"],
        executionTimeoutMs: 60_000,
        idleTimeout: 7,
      },
    ],
    [
      "instance ids for CPU flavours and virtual CPUs",
      "ServerlessEndpoint",
      { templateId: "30zmvf89kd", computeType: "CPU", cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 8 },
      {
        id: "jpnw0v75y3qoql",
        name: "chat-dev",
        templateId: "30zmvf89kd",
        computeType: "CPU",
        instanceIds: ["cpu3c-8-16", "cpu5c-8-16"],
      },
    ],
    [
      "null for every list",
      "ServerlessEndpoint",
      endpoint,
      endpointAnswer({ dataCenterIds: null, allowedCudaVersions: null, networkVolumeIds: null, cpuFlavorIds: null }),
    ],
    [
      "empty texts for nothing",
      "ServerlessEndpoint",
      endpoint,
      endpointAnswer({ networkVolumeId: "", minCudaVersion: "" }),
    ],
    [
      "keys that nobody knows",
      "ServerlessEndpoint",
      endpoint,
      endpointAnswer({
        env: {},
        workers: [],
        template: {},
        userId: "u",
        version: 7,
        createdAt: "2026-01-01T00:00:00Z",
        modelName: "x",
        aiKey: null,
      }),
    ],
    [
      "lists in another order",
      "ServerlessEndpoint",
      { ...endpoint, dataCenterIds: ["A", "B"] },
      endpointAnswer({ dataCenterIds: ["B", "A"] }),
    ],
    [
      "a volume under both names",
      "ServerlessEndpoint",
      { ...endpoint, networkVolumeId: "v" },
      endpointAnswer({ networkVolumeId: "v", networkVolumeIds: ["v"] }),
    ],
    ["nulls for what is empty", "Template", template, templateAnswer()],
    [
      "keys that nobody knows",
      "Template",
      template,
      templateAnswer({
        isPublic: false,
        category: "NVIDIA",
        startSsh: true,
        earned: 0,
        runtimeInMin: 3,
        createdAt: "x",
      }),
    ],
    [
      "env as a map, ports as a list",
      "Template",
      { ...template, ports: "80/http, 22/tcp" },
      templateAnswer({ env: { MODEL: "mistral-7b" }, ports: ["80/http", "22/tcp"] }),
    ],
    [
      "keys that nobody knows",
      "NetworkVolume",
      { name: "models-dev", size: 100, dataCenterId: "EU-RO-1" },
      volumeAnswer({ createdAt: 1, dataCenter: { id: "EU-RO-1" } }),
    ],
    [
      "no description",
      "Secret",
      { value: "v" },
      { id: "s1", name: "chat-dev", description: null, createdAt: 17, updatedAt: {} },
    ],
    [
      "keys that nobody knows",
      "ContainerRegistryAuth",
      { username: "u", password: "p" },
      { id: "r1", name: "chat-dev", username: "someone" },
    ],
  ];
  test.each(rows)("%s (%s)", async (_, kind, news, answer) => {
    expect(await changesOf(kind, news, answer)).toEqual([]);
  });
});
