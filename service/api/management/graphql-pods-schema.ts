/** GraphQL types for pods, so that requests of clients are valid; this service has no pods. Inputs of creates are scalars and not read. */
export const podsSchema = /* GraphQL */ `
  type Pod {
    id: String
    name: String
    podType: String
    desiredStatus: String
    lastStatusChange: String
    createdAt: String
    imageName: String
    templateId: String
    dockerArgs: String
    dockerId: String
    env: [String]
    port: Int
    ports: String
    machineId: String
    machine: PodMachine
    runtime: PodRuntime
    gpuCount: Int
    vcpuCount: Float
    memoryInGb: Float
    containerDiskInGb: Int
    volumeInGb: Float
    volumeMountPath: String
    networkVolumeId: String
    containerRegistryAuthId: String
    costPerHr: Float
    uptimeSeconds: Int
  }
  type PodMachine { podHostId: String gpuTypeId: String gpuDisplayName: String location: String dataCenterId: String }
  type PodRuntime { uptimeInSeconds: Int ports: [PodRuntimePort] gpus: [PodRuntimeGpu] }
  type PodRuntimePort { ip: String isIpPublic: Boolean privatePort: Int publicPort: Int type: String }
  type PodRuntimeGpu { id: String gpuUtilPercent: Float memoryUtilPercent: Float }
  input PodFilter { podId: String }
  scalar PodFindAndDeployOnDemandInput
  scalar PodRentInterruptableInput
  scalar deployCpuPodInput
`;
