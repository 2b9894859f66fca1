import { buildSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";
import { graphqlSchema } from "../../../../service/api/management/graphql-schema";

const schema = buildSchema(graphqlSchema);

/** Fields that clients of the hosted service select. */
const template = `id name imageName containerDiskInGb volumeInGb volumeMountPath dockerArgs env { key value } ports
  portsConfig { port name } readme isServerless isPublic isRunpod category containerRegistryAuthId startJupyter startSsh
  startScript advancedStart config`;
const endpoint = `id name userId createdAt version type computeType templateId template { ${template} } gpuIds gpuCount
  instanceIds workersMin workersMax workersStandby workersPFBTarget idleTimeout scalerType scalerValue locations
  networkVolumeId networkVolume { id name size dataCenterId } networkVolumeIds { networkVolumeId dataCenterId }
  executionTimeoutMs allowedCudaVersions minCudaVersion flashBootType flashEnvironmentId env { key value } modelReferences
  aiKey activeBuildid idePodId compliance`;
const volume = "id name size dataCenterId storageClusterId storageType";
const pod = `id name podType desiredStatus lastStatusChange imageName dockerArgs dockerId env port ports machineId gpuCount
  vcpuCount memoryInGb containerDiskInGb volumeInGb volumeMountPath costPerHr uptimeSeconds machine { gpuDisplayName location }
  runtime { ports { ip isIpPublic privatePort publicPort type } }`;
const secret = "id name description createdAt updatedAt";
const user = `id email clientBalance currentSpendPerHr spendLimit notifyPodsStale notifyPodsGeneral notifyLowBalance pubKey`;
const price = `lowestPrice(input: { gpuCount: 1 }) { gpuName gpuTypeId minimumBidPrice uninterruptablePrice minMemory minVcpu
  stockStatus gpuTypeCudaVersions { cudaVersion availability } }`;

/** One document for each operation and set of fields, with variables as nullable as the clients'. */
const documents: Record<string, string> = {
  "the account": `{ myself { ${user} } }`,
  "templates of the account": `{ myself { podTemplates { ${template} } } }`,
  "endpoints of the account": `{ myself { endpoints { ${endpoint} } } }`,
  "one endpoint": `query ($id: String!) { myself { endpoint(id: $id) { ${endpoint} } } }`,
  "pods of the account": `{ myself { pods { ${pod} } } }`,
  pod: `query ($input: PodFilter) { pod(input: $input) { ${pod} } }`,
  podFindAndDeployOnDemand: `mutation ($input: PodFindAndDeployOnDemandInput!) {
    podFindAndDeployOnDemand(input: $input) { id machineId } }`,
  podRentInterruptable: `mutation ($input: PodRentInterruptableInput!) {
    podRentInterruptable(input: $input) { id machineId } }`,
  deployCpuPod: "mutation ($input: deployCpuPodInput!) { deployCpuPod(input: $input) { id } }",
  "volumes of the account": `{ myself { networkVolumes { ${volume} } } }`,
  "secrets of the account": `{ myself { secrets { ${secret} } } }`,
  "registry credentials": "{ myself { containerRegistryCreds { id name } } }",
  podTemplate: `query ($id: String!) { podTemplate(id: $id) { ${template} } }`,
  podTemplates: `query ($input: PodTemplateFilter) { podTemplates(input: $input) { ${template} } }`,
  serverlessGpuPools: "{ serverlessGpuPools { id gpuTypeIds } }",
  gpuTypes: `query ($input: GpuTypeFilter) { gpuTypes(input: $input) {
    id displayName memoryInGb secureCloud communityCloud ${price} } }`,
  "the stock of a GPU type": `query ($lowestPriceInput: GpuLowestPriceInput, $gpuTypesInput: GpuTypeFilter) {
    gpuTypes(input: $gpuTypesInput) { lowestPrice(input: $lowestPriceInput) { stockStatus } } }`,
  "the stock of a GPU type with values in the document": `{ gpuTypes(input: { ids: ["a"] }) {
    lowestPrice(input: { gpuCount: 1, dataCenterId: "d", secureCloud: true,
    includeAiApi: true, allowedCudaVersions: ["12.8"], compliance: [] }) { stockStatus } } }`,
  "the stock of a CPU flavour": `query ($cpuFlavorInput: CpuFlavorInput, $specificsInput: SpecificsInput) {
    cpuFlavors(input: $cpuFlavorInput) { specifics(input: $specificsInput) { stockStatus securePrice slsPrice } } }`,
  cpuFlavors: "query ($input: CpuFlavorInput) { cpuFlavors(input: $input) { id groupId displayName } }",
  dataCenters: `{ dataCenters { id name location gpuAvailability {
    gpuTypeId displayName gpuTypeDisplayName available stockStatus } } }`,
  saveTemplate: `mutation ($input: SaveTemplateInput) { saveTemplate(input: $input) { ${template} } }`,
  "saveTemplate with values in the document": `mutation { saveTemplate(input: {
    name: "a", imageName: "b:1", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: "",
    env: [{ key: "A", value: "1" }], ports: "80/http", readme: "", isServerless: true, startSsh: true, startJupyter: false,
    advancedStart: false, startScript: "", config: {}, category: "GPU", containerRegistryAuthId: "" }) { id } }`,
  deleteTemplate: "mutation ($name: String) { deleteTemplate(templateName: $name) }",
  saveEndpoint: `mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { ${endpoint} } }`,
  "saveEndpoint with an inline template and rarely sent fields": `mutation { saveEndpoint(input: {
    name: "a", gpuIds: "ADA_24,-NVIDIA L4", type: QB, flashBootType: PRIORITY_FLASHBOOT,
    workersPFBTarget: 1, flashEnvironmentId: "f", hubReleaseId: "h", bindEndpoint: true, modelName: "m", userId: "u",
    modelReferences: ["r"], networkVolumeIds: [{ networkVolumeId: "v" }], env: [{ key: "A", value: "1" }],
    template: { name: "t", containerDiskInGb: 5, dockerArgs: "", env: [], imageName: "b:1", config: {} } }) { id } }`,
  deleteEndpoint: "mutation ($id: String!) { deleteEndpoint(id: $id) }",
  updateEndpointTemplate: `mutation ($input: UpdateEndpointTemplateInput) {
    updateEndpointTemplate(input: $input) { id templateId } }`,
  secretCreate: `mutation ($input: SecretCreateInput!) { secretCreate(input: $input) { ${secret} } }`,
  secretValueUpdate: `mutation ($input: SecretValueUpdateInput!) { secretValueUpdate(input: $input) { ${secret} } }`,
  secretDescriptionUpdate: `mutation ($input: SecretDescriptionUpdateInput!) {
    secretDescriptionUpdate(input: $input) { ${secret} } }`,
  secretDelete: "mutation ($id: ID!) { secretDelete(id: $id) }",
  createNetworkVolume: `mutation ($input: CreateNetworkVolumeInput!) { createNetworkVolume(input: $input) {
    ${volume} } }`,
  "createNetworkVolume with its storage": `mutation { createNetworkVolume(input: {
    name: "a", size: 10, dataCenterId: "EU-RO-1", storageClusterId: "s",
    storageType: "t", isNextGenStorage: true }) { id } }`,
  "createNetworkVolume with separate variables": `mutation ($name: String, $size: Int, $dataCenterId: String!) {
    createNetworkVolume(input: { name: $name, size: $size, dataCenterId: $dataCenterId }) { id } }`,
  updateNetworkVolume: `mutation ($input: UpdateNetworkVolumeInput!) { updateNetworkVolume(input: $input) {
    ${volume} } }`,
  deleteNetworkVolume: "mutation ($input: DeleteNetworkVolumeInput!) { deleteNetworkVolume(input: $input) }",
  saveRegistryAuth: "mutation ($input: SaveRegistryAuthInput) { saveRegistryAuth(input: $input) { id name } }",
  updateRegistryAuth: "mutation ($input: UpdateRegistryAuthInput) { updateRegistryAuth(input: $input) { id name } }",
  deleteRegistryAuth: "mutation ($id: String) { deleteRegistryAuth(registryAuthId: $id) }",
  updateUserSettings: `mutation ($input: UpdateUserSettingsInput) { updateUserSettings(input: $input) { ${user} } }`,
};

test.each(Object.entries(documents))("the clients' document for %s is valid", (_operation, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

test("each query and mutation has a document", () => {
  const sent = Object.values(documents).join(" ");
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}),
  );
  for (const field of fields) expect(sent).toMatch(new RegExp(`\\b${field}\\b`));
});
