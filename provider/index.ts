export * from "./functions/program-calls";
export type {
  ContainerRegistryAuthArgs,
  JobInvokeArgs,
  JobInvokeExpectArgs,
  JobInvokePolicyArgs,
  JobInvokeRequestArgs,
  JobInvokeS3ConfigArgs,
  NetworkVolumeArgs,
  SecretArgs,
  ServerlessEndpointArgs,
  ServerlessEndpointVerifyArgs,
  ServerlessEndpointVerifyExpectArgs,
  ServerlessEndpointVerifyPolicyArgs,
  ServerlessEndpointVerifyRequestArgs,
  ServerlessEndpointVerifyRequestExpectArgs,
  TemplateArgs,
} from "./generated/args";
export { ContainerRegistryAuth } from "./resources/container-registry-auth/resource";
export { JobInvoke } from "./resources/job-invoke/resource";
export { NetworkVolume } from "./resources/network-volume/resource";
export { Secret } from "./resources/secret/resource";
export { ServerlessEndpoint } from "./resources/serverless-endpoint/resource";
export { Template } from "./resources/template/resource";
export { VerifiedEndpoint, type VerifiedEndpointArgs } from "./resources/verified-endpoint/resource";
