// Written by scripts/generate from the inputs.ts of each resource: change those, not this file.
import type * as pulumi from "@pulumi/pulumi";

/** Inputs of a {@link Secret}. */
export interface SecretArgs {
  /** Name of the secret, unique in the account. Default `<resource name>-<stack>-<random suffix>`. A change replaces the resource. */
  name?: pulumi.Input<string>;
  /** The sensitive value. It is write-only. Kept encrypted in state. */
  value: pulumi.Input<string>;
  /** Purpose of the secret. Default `""`. */
  description?: pulumi.Input<string>;
  /** Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false. */
  adoptExisting?: pulumi.Input<boolean>;
}

/** Outputs of a Secret: its inputs with all defaults, and values computed by the service. */
export interface SecretOutputs {
  readonly name: pulumi.Output<string>;
  readonly value: pulumi.Output<string>;
  readonly description: pulumi.Output<string>;
  readonly adoptExisting: pulumi.Output<boolean | undefined>;
  /** Reference to the secret's value for a template's env. */
  readonly reference: pulumi.Output<string>;
}

/** Inputs of a {@link NetworkVolume}. */
export interface NetworkVolumeArgs {
  /** Name of the volume; does not have to be unique. Default `<resource name>-<stack>-<random suffix>`. */
  name?: pulumi.Input<string>;
  /** Size in GB; can only be increased. From 0 to 4096. */
  size: pulumi.Input<number>;
  /** Data centre of the volume, for example `EU-RO-1`. A change replaces the resource. */
  dataCenterId: pulumi.Input<string>;
  /** Storage tier; defaults to the data centre's default tier. REST v2 only. A change replaces the resource. */
  type?: pulumi.Input<"STANDARD" | "HIGH_PERFORMANCE">;
  /** Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false. */
  adoptExisting?: pulumi.Input<boolean>;
}

/** Outputs of a NetworkVolume: its inputs with all defaults, and values computed by the service. */
export interface NetworkVolumeOutputs {
  readonly name: pulumi.Output<string>;
  readonly size: pulumi.Output<number>;
  readonly dataCenterId: pulumi.Output<string>;
  readonly type: pulumi.Output<"STANDARD" | "HIGH_PERFORMANCE" | undefined>;
  readonly adoptExisting: pulumi.Output<boolean | undefined>;
}

/** Inputs of a {@link ContainerRegistryAuth}. */
export interface ContainerRegistryAuthArgs {
  /** Name of the credentials, unique in the account. Default `<resource name>-<stack>-<random suffix>`. A change replaces the resource. */
  name?: pulumi.Input<string>;
  /** User name at the registry. It is write-only. A change replaces the resource. */
  username: pulumi.Input<string>;
  /** Password or access token at the registry. It is write-only. A change replaces the resource. Kept encrypted in state. */
  password: pulumi.Input<string>;
  /** Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false. */
  adoptExisting?: pulumi.Input<boolean>;
}

/** Outputs of a ContainerRegistryAuth: its inputs with all defaults, and values computed by the service. */
export interface ContainerRegistryAuthOutputs {
  readonly name: pulumi.Output<string>;
  readonly username: pulumi.Output<string>;
  readonly password: pulumi.Output<string>;
  readonly adoptExisting: pulumi.Output<boolean | undefined>;
}

/** Inputs of a {@link Template}. */
export interface TemplateArgs {
  /** Name of the template, unique in the account. Default `<resource name>-<stack>-<random suffix>`. */
  name?: pulumi.Input<string>;
  /** Container image name with tag, for example `ghcr.io/acme/chat:1.4.2`. */
  imageName: pulumi.Input<string>;
  /** Size of the container disk in GB. From 0 to 2147483647. Default `50`. */
  containerDiskInGb?: pulumi.Input<number>;
  /** Size of the pod volume in GB; must be 0 or absent for serverless templates. Removing the property keeps the volume. REST v2 cannot remove a volume, so a change to 0 replaces the template. From 0 to 2147483647. */
  volumeInGb?: pulumi.Input<number>;
  /** Start arguments of the container. Default `""`. */
  dockerArgs?: pulumi.Input<string>;
  /** Environment variables of the workers. A secret is passed as `secret.reference`. Default `{}`. */
  env?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Exposed ports: comma-separated `<port>/http` or `<port>/tcp`. Default `""`. */
  ports?: pulumi.Input<string>;
  /** Free text about the template. REST v1 only. Default `""`. */
  readme?: pulumi.Input<string>;
  /** Mount path of volumes in the container; with REST v2 only if volumeInGb is more than 0. Default `"/workspace"`. */
  volumeMountPath?: pulumi.Input<string>;
  /** True for templates of serverless endpoints, false for templates of pods. Default `true`. A change replaces the resource. */
  isServerless?: pulumi.Input<boolean>;
  /** Id of saved registry credentials, for private images. */
  containerRegistryAuthId?: pulumi.Input<string>;
  /** True to start an SSH server; defaults to the service's setting. */
  startSsh?: pulumi.Input<boolean>;
  /** True to start JupyterLab; defaults to the service's setting. */
  startJupyter?: pulumi.Input<boolean>;
  /** True to let every account use the template; defaults to the service's setting. */
  isPublic?: pulumi.Input<boolean>;
  /** Hardware of the template; defaults to the service's setting. */
  category?: pulumi.Input<"CPU" | "NVIDIA" | "AMD">;
  /** Allowed CUDA versions of pods; any if empty. REST v2 only. */
  allowedCudaVersions?: pulumi.Input<pulumi.Input<string>[]>;
  /** Entrypoint of the container, one argument per item; defaults to the image's. Cannot be combined with dockerArgs. Default `[]`. */
  dockerEntrypoint?: pulumi.Input<pulumi.Input<string>[]>;
  /** Command of the container, one argument per item; defaults to the image's. Cannot be combined with dockerArgs. Default `[]`. */
  dockerStartCmd?: pulumi.Input<pulumi.Input<string>[]>;
  /** Creates a new template, with a random suffix in its name, for each change of the workers' content, instead of changing this one. The old one is deleted when no endpoint uses it. Defaults to false. */
  replaceOnChange?: pulumi.Input<boolean>;
  /** Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false. */
  adoptExisting?: pulumi.Input<boolean>;
}

/** Outputs of a Template: its inputs with all defaults, and values computed by the service. */
export interface TemplateOutputs {
  readonly name: pulumi.Output<string>;
  readonly imageName: pulumi.Output<string>;
  readonly containerDiskInGb: pulumi.Output<number>;
  readonly volumeInGb: pulumi.Output<number | undefined>;
  readonly dockerArgs: pulumi.Output<string>;
  readonly env: pulumi.Output<Record<string, string>>;
  readonly ports: pulumi.Output<string>;
  readonly readme: pulumi.Output<string>;
  readonly volumeMountPath: pulumi.Output<string>;
  readonly isServerless: pulumi.Output<boolean>;
  readonly containerRegistryAuthId: pulumi.Output<string | undefined>;
  readonly startSsh: pulumi.Output<boolean | undefined>;
  readonly startJupyter: pulumi.Output<boolean | undefined>;
  readonly isPublic: pulumi.Output<boolean | undefined>;
  readonly category: pulumi.Output<"CPU" | "NVIDIA" | "AMD" | undefined>;
  readonly allowedCudaVersions: pulumi.Output<string[] | undefined>;
  readonly dockerEntrypoint: pulumi.Output<string[]>;
  readonly dockerStartCmd: pulumi.Output<string[]>;
  readonly replaceOnChange: pulumi.Output<boolean | undefined>;
  readonly adoptExisting: pulumi.Output<boolean | undefined>;
  /** Hash of the workers' content: image, arguments, environment, ports, disk and registry credentials. */
  readonly revision: pulumi.Output<string>;
}

/** The input `expect` of a ServerlessEndpointVerifyRequest. */
export interface ServerlessEndpointVerifyRequestExpectArgs {
  /** HTTP status of the response. From 200 to 599. Default `200`. */
  status?: pulumi.Input<number>;
  /** Expected JSON body: objects match partially, everything else exactly. A number that is text in `output` is expected as text. */
  body?: pulumi.Input<unknown>;
}

/** The input `request` of a ServerlessEndpointVerify. */
export interface ServerlessEndpointVerifyRequestArgs {
  /** Path and query string, relative to the endpoint's url. */
  path: pulumi.Input<string>;
  /** Method of the request. Default `"GET"`. */
  method?: pulumi.Input<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">;
  /** Body, sent as JSON. */
  body?: pulumi.Input<unknown>;
  /** Criteria for success. */
  expect?: pulumi.Input<ServerlessEndpointVerifyRequestExpectArgs>;
}

/** The input `expect` of a ServerlessEndpointVerify. */
export interface ServerlessEndpointVerifyExpectArgs {
  /** Final state that the job must reach. Default `"COMPLETED"`. */
  status?: pulumi.Input<"COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT">;
  /** Expected output: objects match partially, everything else exactly. A number that is text in `output` is expected as text. */
  output?: pulumi.Input<unknown>;
}

/** The input `policy` of a ServerlessEndpointVerify. */
export interface ServerlessEndpointVerifyPolicyArgs {
  /** Execution timeout in milliseconds, from the start at a worker; defaults to the `executionTimeoutMs` of the endpoint, or 600000. From 5000 to 604800000. */
  executionTimeout?: pulumi.Input<number>;
  /** True for a job that does not start workers. */
  lowPriority?: pulumi.Input<boolean>;
  /** Milliseconds from submission to removal, including queue and execution; 86400000 if absent. From 10000 to 604800000. */
  ttl?: pulumi.Input<number>;
}

/** The input `verify` of a ServerlessEndpoint. */
export interface ServerlessEndpointVerifyArgs {
  /** Input of the handler; required unless `request` is set. The hosted service delivers a job with an empty input without `input`. */
  input?: pulumi.Input<Record<string, pulumi.Input<unknown>>>;
  /** HTTP request to an endpoint of type LOAD_BALANCER, sent instead of a job. The response must be as expected. */
  request?: pulumi.Input<ServerlessEndpointVerifyRequestArgs>;
  /** Criteria for success. */
  expect?: pulumi.Input<ServerlessEndpointVerifyExpectArgs>;
  /** Time limit of the verification in seconds, including the start of workers of the new version. From 1 to 604800. Default `300`. */
  timeout?: pulumi.Input<number>;
  /** Attempts of a failing job before the verification fails. From 1 to 10. Default `1`. */
  attempts?: pulumi.Input<number>;
  /** Per-job timeouts and priority. */
  policy?: pulumi.Input<ServerlessEndpointVerifyPolicyArgs>;
  /** The verification is repeated if one of these values changes, for example `[template.revision]` of a template that changes in place. Default `[]`. */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]>;
}

/** Inputs of a {@link ServerlessEndpoint}. */
export interface ServerlessEndpointArgs {
  /** Name of the endpoint; does not have to be unique. Default `<resource name>-<stack>-<random suffix>`. */
  name?: pulumi.Input<string>;
  /** Id of the template of the workers. Required if imageName is not set. With both, the endpoint's container settings override the template's. */
  templateId?: pulumi.Input<string>;
  /** Container image with tag, for example `ghcr.io/acme/chat:1.4.2`. Required if templateId is not set, and defaults to the template's. REST v2 only. */
  imageName?: pulumi.Input<string>;
  /** Size of the container disk in GB. Defaults to the template's, or to 50. REST v2 only. From 1 to 2147483647. */
  containerDiskInGb?: pulumi.Input<number>;
  /** Start arguments of the container. Defaults to the template's. REST v2 only. */
  dockerArgs?: pulumi.Input<string>;
  /** Environment variables of the workers, in addition to the template's; the same key overrides it. A secret is passed as `secret.reference`. REST v2 only. */
  env?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Exposed ports: comma-separated `<port>/http` or `<port>/tcp`. Defaults to the template's. REST v2 only. */
  ports?: pulumi.Input<string>;
  /** Id of saved registry credentials, for private images. Defaults to the template's. REST v2 only. */
  containerRegistryAuthId?: pulumi.Input<string>;
  /** Entrypoint of the container, one argument per item; defaults to the template's or the image's. Cannot be combined with dockerArgs. REST v2 only. */
  dockerEntrypoint?: pulumi.Input<pulumi.Input<string>[]>;
  /** Command of the container, one argument per item; defaults to the template's or the image's. Cannot be combined with dockerArgs. REST v2 only. */
  dockerStartCmd?: pulumi.Input<pulumi.Input<string>[]>;
  /** Hardware of the workers. Default `"GPU"`. A change replaces the resource. */
  computeType?: pulumi.Input<"GPU" | "CPU">;
  /** GPU types, for example "NVIDIA L4"; any type if empty. REST v1 uses the first available type; REST v2 ignores the order. Default `[]`. */
  gpuTypeIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Number of GPUs per worker. From 1 to 2147483647. Default `1`. */
  gpuCount?: pulumi.Input<number>;
  /** CPU flavours in priority order, for example "cpu3c". REST v2 also accepts a flavour with its number of virtual CPUs, for example "cpu5c-8". */
  cpuFlavorIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Number of virtual CPUs per worker, for flavours without a number. From 1 to 2147483647. */
  vcpuCount?: pulumi.Input<number>;
  /** Allowed data centres of the workers; any if empty. Default `[]`. */
  dataCenterIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Allowed CUDA versions of the workers; any if empty. Default `[]`. */
  allowedCudaVersions?: pulumi.Input<pulumi.Input<string>[]>;
  /** Minimum CUDA version of the workers. */
  minCudaVersion?: pulumi.Input<string>;
  /** Id of the network volume mounted by the workers. */
  networkVolumeId?: pulumi.Input<string>;
  /** Ids of network volumes in several data centres. Default `[]`. */
  networkVolumeIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Seconds after which an idle worker stops. With REST v2, omit it for a queue with scalerType REQUEST_COUNT. From 1 to 3600. Default `5`. */
  idleTimeout?: pulumi.Input<number>;
  /** Execution timeout of jobs in milliseconds; the policy of a job overrides it. From 5000 to 604800000. */
  executionTimeoutMs?: pulumi.Input<number>;
  /** True to start workers from a saved state. Default `false`. */
  flashboot?: pulumi.Input<boolean>;
  /** Criterion for adding workers: waiting time or number of jobs. Must be REQUEST_COUNT, which is then the default, if type is LOAD_BALANCER. Default `"QUEUE_DELAY"`. */
  scalerType?: pulumi.Input<"QUEUE_DELAY" | "REQUEST_COUNT">;
  /** Seconds that a job waits before workers are added (QUEUE_DELAY; REST v2 accepts fractions), or jobs per worker (REQUEST_COUNT). From 0.5 to 2147483647. Default `4`. */
  scalerValue?: pulumi.Input<number>;
  /** Minimum number of workers, which always run. From 0 to 2147483647. Default `0`. */
  workersMin?: pulumi.Input<number>;
  /** Maximum number of workers. From 0 to 2147483647. Default `3`. */
  workersMax?: pulumi.Input<number>;
  /** Delivery of requests to workers: as jobs of a queue (the default), or directly. REST v2 only. A change replaces the resource. */
  type?: pulumi.Input<"QUEUE" | "LOAD_BALANCER">;
  /** Pools of GPU types, for example "AMPERE_24", instead of gpuTypeIds: all their types except excludedGpuTypeIds. */
  gpuPools?: pulumi.Input<pulumi.Input<string>[]>;
  /** Excluded GPU types, of gpuPools or of all pools. Cannot be combined with gpuTypeIds. */
  excludedGpuTypeIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Start of workers from a saved state, with a priority; replaces flashboot. REST v2 only. */
  flashbootType?: pulumi.Input<"OFF" | "FLASHBOOT" | "PRIORITY_FLASHBOOT">;
  /** Verification when the endpoint is created and when its template or container changes: a worker of the new version must complete this job or request as expected. An update that fails verification is rolled back. */
  verify?: pulumi.Input<ServerlessEndpointVerifyArgs>;
  /** Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false. */
  adoptExisting?: pulumi.Input<boolean>;
}

/** Outputs of a ServerlessEndpoint: its inputs with all defaults, and values computed by the service. */
export interface ServerlessEndpointOutputs {
  readonly name: pulumi.Output<string>;
  readonly templateId: pulumi.Output<string | undefined>;
  readonly imageName: pulumi.Output<string | undefined>;
  readonly containerDiskInGb: pulumi.Output<number | undefined>;
  readonly dockerArgs: pulumi.Output<string | undefined>;
  readonly env: pulumi.Output<Record<string, string> | undefined>;
  readonly ports: pulumi.Output<string | undefined>;
  readonly containerRegistryAuthId: pulumi.Output<string | undefined>;
  readonly dockerEntrypoint: pulumi.Output<string[] | undefined>;
  readonly dockerStartCmd: pulumi.Output<string[] | undefined>;
  readonly computeType: pulumi.Output<"GPU" | "CPU">;
  readonly gpuTypeIds: pulumi.Output<string[]>;
  readonly gpuCount: pulumi.Output<number>;
  readonly cpuFlavorIds: pulumi.Output<string[] | undefined>;
  readonly vcpuCount: pulumi.Output<number | undefined>;
  readonly dataCenterIds: pulumi.Output<string[]>;
  readonly allowedCudaVersions: pulumi.Output<string[]>;
  readonly minCudaVersion: pulumi.Output<string | undefined>;
  readonly networkVolumeId: pulumi.Output<string | undefined>;
  readonly networkVolumeIds: pulumi.Output<string[]>;
  readonly idleTimeout: pulumi.Output<number>;
  readonly executionTimeoutMs: pulumi.Output<number | undefined>;
  readonly flashboot: pulumi.Output<boolean>;
  readonly scalerType: pulumi.Output<"QUEUE_DELAY" | "REQUEST_COUNT">;
  readonly scalerValue: pulumi.Output<number>;
  readonly workersMin: pulumi.Output<number>;
  readonly workersMax: pulumi.Output<number>;
  readonly type: pulumi.Output<"QUEUE" | "LOAD_BALANCER" | undefined>;
  readonly gpuPools: pulumi.Output<string[] | undefined>;
  readonly excludedGpuTypeIds: pulumi.Output<string[] | undefined>;
  readonly flashbootType: pulumi.Output<"OFF" | "FLASHBOOT" | "PRIORITY_FLASHBOOT" | undefined>;
  readonly verify: pulumi.Output<pulumi.Unwrap<ServerlessEndpointVerifyArgs> | undefined>;
  readonly adoptExisting: pulumi.Output<boolean | undefined>;
  /** Root of the endpoint's job API; the address for requests if type is LOAD_BALANCER. */
  readonly url: pulumi.Output<string>;
  /** Version of the endpoint, incremented by each change of its template or environment. With REST v2, the version when the resource was created, adopted, imported or last verified. */
  readonly version: pulumi.Output<number>;
  /** Hash of the container: image, arguments, environment, ports, disk, registry credentials and templateId. It does not change with the settings of the template itself. */
  readonly revision: pulumi.Output<string>;
}

/** The input `request` of a JobInvoke. */
export type JobInvokeRequestArgs = ServerlessEndpointVerifyRequestArgs;

/** The input `policy` of a JobInvoke. */
export type JobInvokePolicyArgs = ServerlessEndpointVerifyPolicyArgs;

/** The input `s3Config` of a JobInvoke. */
export interface JobInvokeS3ConfigArgs {
  /** Id of the access key. */
  accessId?: pulumi.Input<string>;
  /** Secret of the access key. */
  accessSecret?: pulumi.Input<string>;
  /** Name of the bucket. */
  bucketName?: pulumi.Input<string>;
  /** Address of the S3-compatible storage. */
  endpointUrl?: pulumi.Input<string>;
}

/** The input `expect` of a JobInvoke. */
export type JobInvokeExpectArgs = ServerlessEndpointVerifyExpectArgs;

/** Inputs of a {@link JobInvoke}. */
export interface JobInvokeArgs {
  /** Id of the endpoint that runs the job. */
  endpointId: pulumi.Input<string>;
  /** Input of the handler; required unless `request` is set. The hosted service delivers a job with an empty input without `input`. */
  input?: pulumi.Input<Record<string, pulumi.Input<unknown>>>;
  /** HTTP request to an endpoint of type LOAD_BALANCER, sent instead of a job. The response must be as expected. */
  request?: pulumi.Input<JobInvokeRequestArgs>;
  /** `async` submits the job with /run and polls /status; `sync` submits it with /runsync. Default `"async"`. */
  mode?: pulumi.Input<"async" | "sync">;
  /** Per-job timeouts and priority. */
  policy?: pulumi.Input<JobInvokePolicyArgs>;
  /** Address to which the service sends the job's result when the job ends. */
  webhook?: pulumi.Input<string>;
  /** Storage for the worker's code, which receives it with the job. Kept encrypted in state. */
  s3Config?: pulumi.Input<JobInvokeS3ConfigArgs>;
  /** Time limit of the job in seconds, including queueing and worker start; afterwards the job is cancelled. From 1 to 604800. Default `300`. */
  timeout?: pulumi.Input<number>;
  /** The job runs again if one of these values changes, for example `[endpoint.revision]`. Default `[]`. */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]>;
  /** Criteria for success. */
  expect?: pulumi.Input<JobInvokeExpectArgs>;
  /** True to store the output in the state. If false, `outputSha256` and `outputSize` replace it; `expect` still applies to the output. Default `true`. */
  storeOutput?: pulumi.Input<boolean>;
}

/** Outputs of a JobInvoke: its inputs with all defaults, and values computed by the service. */
export interface JobInvokeOutputs {
  readonly endpointId: pulumi.Output<string>;
  readonly input: pulumi.Output<Record<string, unknown> | undefined>;
  readonly request: pulumi.Output<pulumi.Unwrap<JobInvokeRequestArgs> | undefined>;
  readonly mode: pulumi.Output<"async" | "sync">;
  readonly policy: pulumi.Output<pulumi.Unwrap<JobInvokePolicyArgs> | undefined>;
  readonly webhook: pulumi.Output<string | undefined>;
  readonly s3Config: pulumi.Output<pulumi.Unwrap<JobInvokeS3ConfigArgs> | undefined>;
  readonly timeout: pulumi.Output<number>;
  readonly triggers: pulumi.Output<unknown[]>;
  readonly expect: pulumi.Output<pulumi.Unwrap<JobInvokeExpectArgs>>;
  readonly storeOutput: pulumi.Output<boolean>;
  /** Id of the job; with `request`, an id generated by the provider. */
  readonly jobId: pulumi.Output<string>;
  /** Final state of the job. */
  readonly status: pulumi.Output<"IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED" | "TIMED_OUT">;
  /** Return value of the handler; with `request`, the body of the response. An integer that a double cannot represent, such as 12345678901234567890, and a number outside its range, such as 1e400, are text with their digits. */
  readonly output: pulumi.Output<unknown | undefined>;
  /** SHA-256 of the output as compact JSON, in hexadecimal digits, if `storeOutput` is false. */
  readonly outputSha256: pulumi.Output<string | undefined>;
  /** Size of the output as compact JSON in bytes, if `storeOutput` is false. */
  readonly outputSize: pulumi.Output<number | undefined>;
  /** Waiting time of the job in ms. */
  readonly delayTime: pulumi.Output<number | undefined>;
  /** Execution time of the job in ms. */
  readonly executionTime: pulumi.Output<number | undefined>;
}
