import { type Fields, templateFields as templateFieldTable, traitsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import { catalogSchema } from "./graphql-catalog-schema";

/** GraphQL's type of a property. */
function typeOf(shape: z.core.$ZodType): string {
  if (shape instanceof z.ZodNumber) return shape.isInt ? "Int" : "Float";
  if (shape instanceof z.ZodBoolean) return "Boolean";
  return shape instanceof z.ZodArray ? `[${typeOf(shape.element)}]` : "String";
}

/** The properties of a kind as fields of a GraphQL type, without properties that only REST v2 supports. */
const fieldsOf = (fields: Fields): string =>
  Object.entries(fields)
    .flatMap(([name, shape]) => (traitsOf(shape).dialect === "v2" ? [] : [`${name}: ${typeOf(shape)}`]))
    .join("\n    ");

const { name: _n, containerDiskInGb: _c, volumeInGb: _v, env: _e, isServerless: _s, ...plain } = templateFieldTable;

/** Fields of a template and its inputs. */
const templateFields = /* GraphQL */ `
    ${fieldsOf(plain)}
    startScript: String
    advancedStart: Boolean
    config: JSON
`;

/** Fields of both inputs of a template. */
const templateInputFields = /* GraphQL */ `
    ${templateFields}
    env: [EnvironmentVariableInput]
    portsConfig: JSON
`;

/** Fields of an endpoint and its input. */
const endpointFields = /* GraphQL */ `
    id: String
    userId: String
    type: EndpointType
    templateId: String
    gpuIds: String
    gpuCount: Int
    workersMin: Int
    workersMax: Int
    workersPFBTarget: Int
    idleTimeout: Int
    scalerType: String
    scalerValue: Int
    locations: String
    networkVolumeId: String
    executionTimeoutMs: Int
    allowedCudaVersions: String
    minCudaVersion: String
    flashBootType: FlashBootType
    flashEnvironmentId: String
    modelReferences: [String]
`;

/** The GraphQL API as clients of the hosted service know it: names and nullability are what they send. */
export const graphqlSchema = /* GraphQL */ `
  "Always null: the mutation returns nothing."
  scalar Void
  scalar JSON

  enum FlashBootType { OFF FLASHBOOT PRIORITY_FLASHBOOT }
  enum EndpointType { QB LB }

  type EnvironmentVariable { key: String value: String }
  input EnvironmentVariableInput { key: String! value: String! }

  type PortConfig { name: String port: String }

  type PodTemplate {
    id: String
    name: String
    containerDiskInGb: Int
    volumeInGb: Int
    env: [EnvironmentVariable]
    portsConfig: [PortConfig]
    isServerless: Boolean
    isRunpod: Boolean
    boundEndpointId: String
    ${templateFields}
  }

  input SaveTemplateInput {
    id: String
    name: String!
    containerDiskInGb: Int!
    volumeInGb: Int!
    isServerless: Boolean
    ${templateInputFields}
  }

  "The template of saveEndpoint is a serverless one."
  input EndpointTemplateInput {
    name: String!
    containerDiskInGb: Int!
    volumeInGb: Int
    ${templateInputFields}
  }

  input PodTemplateFilter { ids: [String] }

  type NetworkVolume {
    id: String
    name: String
    size: Int
    dataCenterId: String
    storageClusterId: String
    storageType: String
  }
  type NetworkVolumeReference { networkVolumeId: String dataCenterId: String }
  input NetworkVolumeReferenceInput { networkVolumeId: String! }

  type Endpoint {
    ${endpointFields}
    name: String
    createdAt: String
    version: Int
    computeType: String
    template: PodTemplate
    gpuTypeIds: [String]
    instanceIds: [String]
    workersStandby: Int
    networkVolume: NetworkVolume
    networkVolumeIds: [NetworkVolumeReference]
    env: [EnvironmentVariable]
    aiKey: String
    activeBuildid: String
    idePodId: String
    compliance: [String]
  }

  "Saved whole: what is left out is reset to its default."
  input EndpointInput {
    ${endpointFields}
    name: String!
    template: EndpointTemplateInput
    instanceIds: [String!]
    networkVolumeIds: [NetworkVolumeReferenceInput!]
    env: [EnvironmentVariableInput]
    "Accepted and without effect here, as userId and the two below."
    hubReleaseId: String
    bindEndpoint: Boolean
    modelName: String
  }
  input UpdateEndpointTemplateInput { endpointId: String! templateId: String! }

  "A secret's value can be written and never read."
  type Secret { id: ID name: String description: String createdAt: String updatedAt: String }
  input SecretCreateInput { name: String! value: String! description: String }
  input SecretValueUpdateInput { id: ID! value: String! }
  input SecretDescriptionUpdateInput { id: ID! description: String! }

  input CreateNetworkVolumeInput {
    name: String
    size: Int
    dataCenterId: String!
    storageClusterId: String
    storageType: String
    isNextGenStorage: Boolean
    userId: String
  }
  input UpdateNetworkVolumeInput { id: String! name: String size: Int }
  input DeleteNetworkVolumeInput { id: String! }

  type ContainerRegistryAuth { id: String name: String }
  input SaveRegistryAuthInput { name: String! username: String! password: String! }
  input UpdateRegistryAuthInput { id: String! username: String! password: String! }

  ${catalogSchema}
  "Stored and returned; no notification is sent."
  input UpdateUserSettingsInput {
    pubKey: String
    notifyPodsStale: Boolean
    notifyPodsGeneral: Boolean
    notifyLowBalance: Boolean
  }
  type User {
    id: ID
    email: String
    pubKey: String
    clientBalance: Float
    currentSpendPerHr: Float
    spendLimit: Float
    notifyPodsStale: Boolean
    notifyPodsGeneral: Boolean
    notifyLowBalance: Boolean
    podTemplates: [PodTemplate]
    endpoints: [Endpoint]
    endpoint(id: String!): Endpoint
    networkVolumes: [NetworkVolume]
    secrets: [Secret]
    containerRegistryCreds: [ContainerRegistryAuth]
  }

  type Query {
    myself: User
    podTemplates(input: PodTemplateFilter): [PodTemplate]
    podTemplate(id: String!): PodTemplate
    serverlessGpuPools: [GpuPool]
    gpuTypes(input: GpuTypeFilter): [GpuType]
    cpuFlavors(input: CpuFlavorInput): [CpuFlavor]
    dataCenters: [DataCenter]
  }

  type Mutation {
    saveTemplate(input: SaveTemplateInput): PodTemplate
    deleteTemplate(templateName: String): Void
    saveEndpoint(input: EndpointInput!): Endpoint
    deleteEndpoint(id: String!): Void
    updateEndpointTemplate(input: UpdateEndpointTemplateInput): Endpoint
    updateUserSettings(input: UpdateUserSettingsInput): User
    secretCreate(input: SecretCreateInput!): Secret
    secretValueUpdate(input: SecretValueUpdateInput!): Secret
    secretDescriptionUpdate(input: SecretDescriptionUpdateInput!): Secret
    secretDelete(id: ID!): Void
    createNetworkVolume(input: CreateNetworkVolumeInput!): NetworkVolume
    updateNetworkVolume(input: UpdateNetworkVolumeInput!): NetworkVolume
    deleteNetworkVolume(input: DeleteNetworkVolumeInput!): Void
    saveRegistryAuth(input: SaveRegistryAuthInput): ContainerRegistryAuth
    updateRegistryAuth(input: UpdateRegistryAuthInput): ContainerRegistryAuth
    deleteRegistryAuth(registryAuthId: String): Void
  }
`;
