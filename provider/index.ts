export type {
  ContainerRegistryAuthArgs,
  JobInvokeArgs,
  JobInvokeExpectArgs,
  JobInvokePolicyArgs,
  NetworkVolumeArgs,
  SecretArgs,
  ServerlessEndpointArgs,
  TemplateArgs,
} from "./args";
export { ContainerRegistryAuth } from "./dynamic/container-registry-auth";
export { JobInvoke } from "./dynamic/job-invoke";
export { NetworkVolume } from "./dynamic/network-volume";
export { Secret } from "./dynamic/secret";
export { ServerlessEndpoint } from "./dynamic/serverless-endpoint";
export { Template } from "./dynamic/template";
export { type InvokeJobOptions, invokeJob, type JobInvokeOptions } from "./invoke-job";
export {
  getEndpointHealth,
  getNetworkVolume,
  getSecret,
  getServerlessEndpoint,
  getTemplate,
  type LookUp,
  type LookUpOptions,
} from "./look-ups";
