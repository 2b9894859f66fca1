import type { UnreadableElement } from "./answer";
import type {
  EndpointChanges,
  EndpointCreate,
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

/** Workers of an endpoint, as far as the service reports them. */
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
  /** Pool of serverless endpoints that contains it; undefined if there is none. */
  pool?: string | undefined;
  /** Price in US dollars per hour, if the service reports one. */
  price?: number | undefined;
}

/** The stock of a GPU type for workers with one GPU. */
export interface GpuStockRecord {
  id: string;
  /** Data centres that have it in stock; undefined if the service does not report them. */
  dataCenterIds: readonly string[] | undefined;
}

/** The quota of workers: sums of `workersMax` over all endpoints of the account. */
export interface WorkerQuota {
  /** Largest allowed sum; undefined without a limit. */
  limit: number | undefined;
  /** Present sum. */
  used: number;
}

/** A CPU flavour that the service has. */
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
  /** Milliseconds for the call with all its attempts. Default: the clients' setting. */
  deadline?: number | undefined;
  /** Further values that no error of this call may contain, besides the key and the secrets that the call sends. */
  secrets?: readonly string[] | undefined;
  /** Called when the call fails because the next attempt would start after its deadline. */
  onDeadline?: (() => void) | undefined;
  /** Called before each wait for a retry. */
  onRetry?: ((notice: { error: Error; attempt: number; delay: number }) => void) | undefined;
  /** Called before a wait of a second or more for the reset of an exhausted rate limit. */
  onPause?: ((notice: { delay: number }) => void) | undefined;
  /** Called with each list element that does not match its shape and is omitted. Without this option, the list rejects. */
  onUnreadable?: ((element: UnreadableElement) => void) | undefined;
}

/**
 * Interface of lifecycles to the management APIs, independent of paths, documents and spellings. Each dialect implements it.
 * Every call rejects with an ApiError. Reads of one object return undefined when it does not exist; changes and
 * deletes of an absent object reject with category `missing`.
 * Creates are retried only if the service cannot have applied them; an `ambiguous` error means that it may have.
 * `settings` in the options of an update are the complete result of the changes, because a dialect may combine several.
 */
export interface Management {
  createTemplate(settings: TemplateCreate, options?: CallOptions): Promise<TemplateRecord>;
  /** Changes only the given settings. Fields that this client does not know also stay unchanged. */
  updateTemplate(
    id: string,
    changes: TemplateSettings,
    options?: CallOptions & { settings?: TemplateSettings },
  ): Promise<TemplateRecord>;
  readTemplate(id: string, options?: CallOptions): Promise<TemplateRecord | undefined>;
  listTemplates(options?: CallOptions): Promise<TemplateRecord[]>;
  /**
   * Deletes a template by its id or its current name, depending on the dialect. Rejects with category `inUse` while an endpoint
   * uses it or its release is not over. A delete by name that may have been applied (`ambiguous`) is not retried, because the
   * name may belong to another template by then.
   */
  deleteTemplate(template: { id: string; name: string }, options?: CallOptions): Promise<void>;

  /**
   * The endpoints that are bound to a template and block its delete. REST v2 does not show them: there the result is the
   * endpoints that may be bound, because they have the template's settings without the mark of a copy.
   */
  listBound(template: TemplateRecord, options?: CallOptions): Promise<Pick<EndpointRecord, "id" | "name">[]>;

  createEndpoint(settings: EndpointCreate, options?: CallOptions): Promise<EndpointRecord>;
  readEndpoint(id: string, options?: CallOptions): Promise<EndpointRecord | undefined>;
  /** The version of an endpoint and its newest releases, newest first; undefined in a dialect without releases. */
  readReleases(id: string, options?: CallOptions): Promise<EndpointReleases | undefined>;
  listEndpoints(options?: CallOptions): Promise<EndpointRecord[]>;
  /** The endpoints with a marked copy of a template's settings, which a change of the template does not reach. */
  listCopies(templateId: string, options?: CallOptions): Promise<EndpointRecord[]>;
  /** Copies the template's current settings to one of these endpoints. */
  updateCopy(endpoint: EndpointRecord, templateId: string, options?: CallOptions): Promise<void>;
  updateEndpoint(
    id: string,
    changes: EndpointChanges,
    options?: CallOptions & { settings?: EndpointSettings },
  ): Promise<Pick<EndpointRecord, "id" | "requestUrl" | "version">>;
  /** URL and body of the PATCH that sets an endpoint's template, for users who send it by hand. */
  templateChange(id: string, templateId: string): { url: string; body: object };
  /** The workers of an endpoint and the versions they run. */
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
  /** Absent if the dialect cannot read a single secret. */
  readSecret?(id: string, options?: CallOptions): Promise<SecretRecord | undefined>;
  /** With `name`, the list contains at least the secrets of that name; a dialect without the filter lists all. */
  listSecrets(options?: CallOptions & { name?: string }): Promise<SecretRecord[]>;
  updateSecretValue(input: { id: string; value: string }, options?: CallOptions): Promise<void>;
  updateSecretDescription(input: { id: string; description: string }, options?: CallOptions): Promise<void>;
  deleteSecret(id: string, options?: CallOptions): Promise<void>;

  createRegistryAuth(input: RegistryAuthCreate, options?: CallOptions): Promise<RegistryAuthRecord>;
  listRegistryAuths(options?: CallOptions): Promise<RegistryAuthRecord[]>;
  /** Sets new credentials under the same id and name; rejects in REST v2, which has no such change. */
  updateRegistryAuth(input: RegistryAuthUpdate, options?: CallOptions): Promise<void>;
  deleteRegistryAuth(id: string, options?: CallOptions): Promise<void>;

  listGpuTypes(options?: CallOptions): Promise<GpuTypeRecord[]>;
  /** One request, as is the read of the quota. */
  listGpuStock(options?: CallOptions): Promise<GpuStockRecord[]>;
  /** Undefined if the service reports the quota in another form. */
  readWorkerQuota(options?: CallOptions): Promise<WorkerQuota | undefined>;
  /** Absent where the dialect cannot list them. */
  listCpuTypes?(options?: CallOptions): Promise<CpuTypeRecord[]>;
  listDataCenters(options?: CallOptions): Promise<DataCenterRecord[]>;
}
