import type { ApiError } from "./errors";
import type { UnreadableElement } from "./response";
import type {
  ContainerSettings,
  EndpointChanges,
  EndpointRecord,
  EndpointReleases,
  EndpointSettings,
  NetworkVolumeRecord,
  NetworkVolumeSettings,
  RegistryAuthCreate,
  RegistryAuthRecord,
  RegistryAuthUpdate,
  SecretCreateInput,
  SecretRecord,
  TemplateCreate,
  TemplateRecord,
  TemplateSettings,
  WorkerRecord,
} from "./shapes";

/** The workers of an endpoint, if the service reports them. */
export interface EndpointWorkers {
  /** Version of new workers; undefined if the service does not report it. */
  version: number | undefined;
  workers: readonly WorkerRecord[];
}

/** A GPU type of the service. */
export interface GpuTypeRecord {
  id: string;
  name: string;
  memoryInGb?: number | undefined;
  manufacturer?: string | undefined;
  /** Pool of serverless endpoints that contains the type; undefined if there is none. */
  pool?: string | undefined;
  /** Price in US dollars per hour, if the service reports one. */
  price?: number | undefined;
}

/** The stock of a GPU type for workers with one GPU. */
export interface GpuStockRecord {
  id: string;
  /** Pool that contains the type, if the service reports it. */
  pool?: string | undefined;
  /** Data centres with stock; undefined if the service does not report them. */
  dataCenterIds: readonly string[] | undefined;
}

/** The worker quota: sums of `workersMax` over all endpoints of the account. */
export interface WorkerQuota {
  /** Maximum sum; undefined without a limit. */
  limit: number | undefined;
  /** Current sum. */
  used: number;
}

/** A CPU flavour of the service. */
export interface CpuTypeRecord {
  id: string;
  /** Price of serverless workers in US dollars per hour and virtual CPU, if the service reports one. */
  pricePerVcpu: number | undefined;
}

/** A data centre of the service. */
export interface DataCenterRecord {
  id: string;
  name: string;
  region?: string | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call and its retries; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Aborts only the waits between attempts; `signal` ends a running attempt. */
  waitSignal?: AbortSignal | undefined;
  /**
   * Timeout of each request of the call with all attempts, ms; a list sends a request for each page. `signal` can limit the whole call.
   * Default: the clients' setting.
   */
  timeout?: number | undefined;
  /** Additional values to redact from errors of this call, besides the key and the secrets sent by the call. */
  secrets?: readonly string[] | undefined;
  /** Called when the call fails because the next attempt would start after its deadline. */
  onDeadline?: (() => void) | undefined;
  /** Called before each wait for a retry. */
  onRetry?: ((notice: { error: ApiError; attempt: number; delay: number }) => void) | undefined;
  /** Called before a wait of a second or more for the reset of an exhausted rate limit. */
  onPause?: ((notice: { delay: number }) => void) | undefined;
  /** Called if the service states that a list is complete. */
  onComplete?: (() => void) | undefined;
  /** Called with each list element that does not match its shape and is omitted. Without this option, the list rejects. */
  onUnreadable?: ((element: UnreadableElement) => void) | undefined;
}

/** Settings and changed variables for an update of an endpoint. */
export interface EndpointUpdate {
  /** The complete settings after the update. */
  settings?: EndpointSettings | undefined;
  /** Selects the variables that the update changes; the others keep their values. All of them change if it is absent. */
  isChangedVariable?: ((name: string) => boolean) | undefined;
}

/**
 * Interface of the resource types to the management APIs, independent of paths, documents and field names; implemented by each dialect. Calls
 * reject with an ApiError. Reads of a single missing object return undefined; changes and deletes of a missing object reject with
 * category `missing`. Creates are retried only if the service cannot have applied them; after an `ambiguous` error, it may have.
 * `settings` in the options of an update contains the complete settings after the changes, because a dialect may combine several.
 */
export interface ManagementClient {
  createTemplate(settings: TemplateCreate, options?: CallOptions): Promise<TemplateRecord>;
  /** Changes only the given settings. Fields unknown to this client also stay unchanged. */
  updateTemplate(
    id: string,
    changes: TemplateSettings,
    options?: CallOptions & { settings?: TemplateSettings | undefined },
  ): Promise<TemplateRecord>;
  readTemplate(id: string, options?: CallOptions): Promise<TemplateRecord | undefined>;
  listTemplates(options?: CallOptions): Promise<TemplateRecord[]>;
  /**
   * Deletes a template. Rejects with category `inUse` while an endpoint uses it and until its release. GraphQL deletes by name, so the
   * current name is read first, and a delete that may have been applied (`ambiguous`) is not retried: the name may already belong to another
   * template.
   */
  deleteTemplate(id: string, options?: CallOptions): Promise<void>;

  /**
   * Requires `templateId`, `imageName` or, with REST v2, both. With REST v2, creates and updates use the template's settings that these
   * clients have read by id or changed last. If another program may have changed the template, call `readTemplate` first.
   */
  createEndpoint(settings: EndpointSettings, options?: CallOptions): Promise<EndpointRecord>;
  readEndpoint(id: string, options?: CallOptions): Promise<EndpointRecord | undefined>;
  /** Adds the pools that contain the GPU types of an endpoint. Absent if the dialect returns the pools of every endpoint. */
  withPools?(endpoint: EndpointRecord, options?: CallOptions): Promise<EndpointRecord>;
  /** Reads an endpoint's version and newest releases, newest first; undefined in a dialect without releases. */
  readReleases(id: string, options?: CallOptions): Promise<EndpointReleases | undefined>;
  listEndpoints(options?: CallOptions): Promise<EndpointRecord[]>;
  /**
   * Replaces an endpoint's copy of a template. `container` contains the settings of the template and the endpoint's own settings; `own`
   * marks the latter. Absent in a dialect whose endpoints are bound to their templates.
   */
  updateCopy?(
    endpoint: Pick<EndpointRecord, "id" | "own">,
    container: ContainerSettings & { templateId: string },
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Changes only the given settings. If the GPU types do not change, they may be unknown: then the result has `gpuTypeIds: []`, and its
   * `unknownKeys` contain `gpuTypeIds`.
   */
  updateEndpoint(id: string, changes: EndpointChanges, options?: CallOptions & EndpointUpdate): Promise<EndpointRecord>;
  /** Reads the workers of an endpoint and their versions. */
  readWorkers(id: string, options?: CallOptions): Promise<EndpointWorkers>;
  deleteEndpoint(id: string, options?: CallOptions): Promise<void>;

  createNetworkVolume(settings: NetworkVolumeSettings, options?: CallOptions): Promise<NetworkVolumeRecord>;
  readNetworkVolume(id: string, options?: CallOptions): Promise<NetworkVolumeRecord | undefined>;
  listNetworkVolumes(options?: CallOptions): Promise<NetworkVolumeRecord[]>;
  updateNetworkVolume(
    id: string,
    changes: Partial<Omit<NetworkVolumeSettings, "dataCenterId" | "type">>,
    options?: CallOptions,
  ): Promise<NetworkVolumeRecord>;
  deleteNetworkVolume(id: string, options?: CallOptions): Promise<void>;

  createSecret(input: SecretCreateInput, options?: CallOptions): Promise<SecretRecord>;
  /** Undefined if the dialect cannot read a single secret. */
  readSecret?(id: string, options?: CallOptions): Promise<SecretRecord | undefined>;
  listSecrets(options?: CallOptions): Promise<SecretRecord[]>;
  updateSecretValue(input: { id: string; value: string }, options?: CallOptions): Promise<void>;
  updateSecretDescription(input: { id: string; description: string }, options?: CallOptions): Promise<void>;
  deleteSecret(id: string, options?: CallOptions): Promise<void>;

  createRegistryAuth(input: RegistryAuthCreate, options?: CallOptions): Promise<RegistryAuthRecord>;
  /** Undefined if the dialect cannot read single credentials. */
  readRegistryAuth?(id: string, options?: CallOptions): Promise<RegistryAuthRecord | undefined>;
  listRegistryAuths(options?: CallOptions): Promise<RegistryAuthRecord[]>;
  /** Replaces credentials under the same id and name; rejects in REST v2, which cannot change them. */
  updateRegistryAuth(input: RegistryAuthUpdate, options?: CallOptions): Promise<void>;
  deleteRegistryAuth(id: string, options?: CallOptions): Promise<void>;

  listGpuTypes(options?: CallOptions): Promise<GpuTypeRecord[]>;
  /** Reads the stock of all GPU types with one request. */
  listGpuStock(options?: CallOptions): Promise<GpuStockRecord[]>;
  /** Reads the worker quota with one request; undefined if the service reports it in another form. */
  readWorkerQuota(options?: CallOptions): Promise<WorkerQuota | undefined>;
  /** Undefined if the dialect cannot list CPU types. */
  listCpuTypes?(options?: CallOptions): Promise<CpuTypeRecord[]>;
  listDataCenters(options?: CallOptions): Promise<DataCenterRecord[]>;
}
