import { type Example, map, ref, type Step } from "./example";

const volume: Step = { variable: "models", member: "NetworkVolume", args: { size: 100, dataCenterId: "EU-RO-1" } };

const template: Step = {
  variable: "template",
  member: "Template",
  args: { imageName: "ghcr.io/acme/chat:1.4.2", containerDiskInGb: 20, env: map({ MODEL: "mistral-7b" }) },
};

const endpoint: Step = {
  variable: "chat",
  member: "ServerlessEndpoint",
  args: { templateId: ref("template", "id"), gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"], workersMax: 3 },
};

const endpointWithImage: Step = {
  variable: "chat",
  member: "ServerlessEndpoint",
  args: { imageName: "ghcr.io/acme/chat:1.4.2", workersMax: 3 },
};

const foundEndpoint: Step = { variable: "chat", member: "getServerlessEndpoint", args: { name: "chat-prod" } };

/** The examples of each resource and function, in the order of its page: the simplest first. */
export const catalogue: Readonly<Record<string, readonly [Example, ...Example[]]>> = {
  Secret: [
    {
      title: "Pass a secret to workers",
      steps: [
        { variable: "token", member: "Secret", args: { value: { configSecret: "hubToken" } } },
        {
          variable: "template",
          member: "Template",
          args: { imageName: "ghcr.io/acme/chat:1.4.2", env: map({ HUB_TOKEN: ref("token", "reference") }) },
        },
      ],
    },
  ],
  NetworkVolume: [
    {
      title: "Storage for the workers of an endpoint, with REST v2",
      steps: [
        volume,
        { ...endpointWithImage, args: { ...endpointWithImage.args, networkVolumeId: ref("models", "id") } },
      ],
    },
  ],
  ContainerRegistryAuth: [
    {
      title: "An image of a private registry",
      steps: [
        {
          variable: "registry",
          member: "ContainerRegistryAuth",
          args: { username: "acme-bot", password: { configSecret: "registryToken" } },
        },
        {
          variable: "template",
          member: "Template",
          args: { imageName: "ghcr.io/acme/private:2.0.0", containerRegistryAuthId: ref("registry", "id") },
        },
      ],
    },
  ],
  Template: [
    { title: "An image and its environment", steps: [template], outputs: { revision: ref("template", "revision") } },
  ],
  ServerlessEndpoint: [
    {
      title: "An image without a template, with REST v2",
      steps: [endpointWithImage],
      outputs: { url: ref("chat", "url") },
    },
    {
      title: "Workers with a GPU",
      steps: [template, endpoint],
      outputs: { url: ref("chat", "url") },
    },
    {
      title: "Workers without a GPU, one for every two jobs",
      steps: [
        template,
        {
          variable: "batch",
          member: "ServerlessEndpoint",
          args: {
            templateId: ref("template", "id"),
            computeType: "CPU",
            cpuFlavorIds: ["cpu3c"],
            vcpuCount: 2,
            scalerType: "REQUEST_COUNT",
            scalerValue: 2,
            flashboot: true,
          },
        },
      ],
    },
  ],
  JobInvoke: [
    {
      title: "A smoke test of an endpoint, with REST v2",
      steps: [
        endpointWithImage,
        {
          variable: "answers",
          member: "JobInvoke",
          args: {
            endpointId: ref("chat", "id"),
            input: map({ text: "pong" }),
            expect: map({ output: map({ text: "pong" }) }),
            triggers: [ref("chat", "revision")],
          },
        },
      ],
      outputs: { answer: ref("answers", "output") },
    },
    {
      title: "A job with limits, on an endpoint of another stack",
      steps: [
        foundEndpoint,
        {
          variable: "answers",
          member: "JobInvoke",
          args: {
            endpointId: ref("chat", "id"),
            input: map({ words: ["one", "two"], options: map({ temperature: 0.5 }) }),
            policy: map({ executionTimeout: 60_000, ttl: 600_000 }),
            timeout: 120,
          },
        },
      ],
    },
  ],
  VerifiedEndpoint: [
    {
      title: "A rollout that is verified with a job, with REST v2",
      steps: [
        {
          variable: "chat",
          member: "VerifiedEndpoint",
          args: {
            endpoint: map({ imageName: "ghcr.io/acme/chat:1.4.2", workersMax: 3 }),
            verify: map({
              input: map({ text: "pong" }),
              expect: map({ output: map({ text: "pong" }) }),
              timeout: 300,
            }),
          },
        },
      ],
      outputs: { url: ref("chat", "url") },
    },
  ],
  getTemplate: [
    {
      title: "An endpoint from a template of another stack",
      steps: [{ variable: "template", member: "getTemplate", args: { name: "chat-prod" } }, endpoint],
    },
  ],
  getServerlessEndpoint: [
    { title: "The address of an endpoint", steps: [foundEndpoint], outputs: { url: ref("chat", "url") } },
  ],
  getNetworkVolume: [
    {
      title: "The size of a volume",
      steps: [{ variable: "models", member: "getNetworkVolume", args: { name: "models-prod" } }],
      outputs: { size: ref("models", "size") },
    },
  ],
  getContainerRegistryAuth: [
    {
      title: "A private image with the credentials of another stack",
      steps: [
        { variable: "registry", member: "getContainerRegistryAuth", args: { name: "acme-registry" } },
        {
          variable: "template",
          member: "Template",
          args: { imageName: "ghcr.io/acme/private:2.0.0", containerRegistryAuthId: ref("registry", "id") },
        },
      ],
    },
  ],
  getSecret: [
    {
      title: "An existing secret",
      steps: [
        { variable: "token", member: "getSecret", args: { name: "hub-token" } },
        {
          variable: "template",
          member: "Template",
          args: { imageName: "ghcr.io/acme/chat:1.4.2", env: map({ HUB_TOKEN: ref("token", "reference") }) },
        },
      ],
    },
  ],
  getGpuTypes: [
    {
      title: "The GPU types of a pool",
      steps: [{ variable: "catalog", member: "getGpuTypes", args: { pool: "ADA_48_PRO" } }],
      outputs: { gpuTypes: ref("catalog", "gpuTypes") },
    },
  ],
  getDataCenters: [
    {
      title: "The data centres of a region",
      steps: [{ variable: "catalog", member: "getDataCenters", args: { region: "EUROPE" } }],
      outputs: { dataCenters: ref("catalog", "dataCenters") },
    },
  ],
  getEndpointHealth: [
    {
      title: "The number of queued jobs",
      steps: [
        foundEndpoint,
        { variable: "health", member: "getEndpointHealth", args: { endpointId: ref("chat", "id") } },
      ],
      outputs: { waiting: ref("health", "jobs", "inQueue") },
    },
  ],
};
