/** An endpoint as the service returns it. */
export const endpointRecord = (overrides: Record<string, unknown> = {}) => ({
  id: "jpnw0v75y3qoql",
  name: "chat-dev",
  templateId: "30zmvf89kd",
  gpuTypeIds: ["NVIDIA L4"],
  workersMin: 0,
  workersMax: 3,
  ...overrides,
});

/** A network volume as the service returns it. */
export const volumeRecord = (overrides: Record<string, unknown> = {}) => ({
  id: "agv6w2qcg7",
  name: "models-dev",
  size: 100,
  dataCenterId: "EU-RO-1",
  ...overrides,
});

/** A template as GraphQL returns it. */
export const templateRecord = (overrides: Record<string, unknown> = {}) => ({
  id: "30zmvf89kd",
  name: "chat-dev",
  imageName: "ghcr.io/acme/chat:1.4.2",
  containerDiskInGb: 20,
  volumeInGb: 0,
  dockerArgs: "",
  env: [{ key: "MODEL", value: "mistral-7b" }],
  ports: null,
  readme: null,
  volumeMountPath: "/workspace",
  isServerless: true,
  containerRegistryAuthId: "",
  ...overrides,
});

/** Settings of a new template. */
export const templateInput = {
  name: "chat-dev",
  imageName: "ghcr.io/acme/chat:1.4.2",
  containerDiskInGb: 20,
  volumeInGb: 0,
  dockerArgs: "",
  env: { MODEL: "mistral-7b" },
};
