import { endpointFields, type Fields, optionsOf, templateFields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { accountSettings } from "../../resources/account";
import { catalogSchema } from "./graphql-catalog-schema";
import { podsSchema } from "./graphql-pods-schema";

/** The GraphQL type of a property. */
function typeOf(shape: z.core.$ZodType): string {
  if (shape instanceof z.ZodDefault) return typeOf(shape.def.innerType);
  if (shape instanceof z.ZodNumber) return shape.isInt ? "Int" : "Float";
  if (shape instanceof z.ZodBoolean) return "Boolean";
  return shape instanceof z.ZodArray ? `[${typeOf(shape.element)}]` : "String";
}

/** Properties as GraphQL fields, without `omitted` properties and properties that only REST v2 supports. */
const fieldsOf = (fields: Fields, omitted: readonly string[] = []): string =>
  Object.entries(fields)
    .filter(([name, shape]) => !omitted.includes(name) && optionsOf(shape).dialect !== "v2")
    .map(([name, shape]) => `${name}: ${typeOf(shape)}`)
    .join("\n    ");

/** Fields of a template and its inputs. */
const commonTemplateFields = /* GraphQL */ `
    ${fieldsOf(templateFields, ["name", "containerDiskInGb", "volumeInGb", "env", "isServerless"])}
    startScript: String
    advancedStart: Boolean
    config: JSON
`;

/** Fields of both template inputs. */
const templateInputFields = /* GraphQL */ `
    ${commonTemplateFields}
    env: [EnvironmentVariableInput]
    portsConfig: JSON
`;

/** Endpoint properties that have another form in GraphQL. */
const convertedEndpointFields = [
  "name",
  "computeType",
  "gpuTypeIds",
  "gpuPools",
  "excludedGpuTypeIds",
  "cpuFlavorIds",
  "vcpuCount",
  "dataCenterIds",
  "allowedCudaVersions",
  "networkVolumeIds",
  "flashboot",
];

/** Fields of an endpoint and its input. */
const commonEndpointFields = /* GraphQL */ `
    ${fieldsOf(endpointFields, convertedEndpointFields)}
    id: String
    userId: String
    type: EndpointType
    gpuIds: String
    workersPFBTarget: Int
    locations: String
    allowedCudaVersions: String
    flashBootType: FlashBootType
    flashEnvironmentId: String
    modelReferences: [String]
`;

/** The GraphQL schema, with the names and nullability used by clients of the hosted service. */
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
    ${commonTemplateFields}
  }

  input SaveTemplateInput {
    id: String
    name: String!
    containerDiskInGb: Int!
    volumeInGb: Int!
    isServerless: Boolean
    ${templateInputFields}
  }

  "A serverless template in saveEndpoint."
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
    ${commonEndpointFields}
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

  "Replaces the endpoint; omitted fields are reset to their defaults."
  input EndpointInput {
    ${commonEndpointFields}
    name: String!
    template: EndpointTemplateInput
    instanceIds: [String!]
    networkVolumeIds: [NetworkVolumeReferenceInput!]
    env: [EnvironmentVariableInput]
    "Accepted without effect, like userId and the next two fields."
    hubReleaseId: String
    bindEndpoint: Boolean
    modelName: String
  }
  input UpdateEndpointTemplateInput { endpointId: String! templateId: String! }

  "The value of a secret can be written but not read."
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
  ${podsSchema}
  "Stored and returned; no notification is sent."
  input UpdateUserSettingsInput { ${fieldsOf(accountSettings.shape)} }
  type User {
    id: ID
    email: String
    ${fieldsOf(accountSettings.shape)}
    clientBalance: Float
    currentSpendPerHr: Float
    spendLimit: Float
    maxServerlessConcurrency: Int
    podTemplates: [PodTemplate]
    pods: [Pod]
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
    pod(input: PodFilter): Pod
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
    podFindAndDeployOnDemand(input: PodFindAndDeployOnDemandInput): Pod
    podRentInterruptable(input: PodRentInterruptableInput): Pod
    deployCpuPod(input: deployCpuPodInput): Pod
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
