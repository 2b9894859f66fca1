import type { UnreadableElement } from "./answer";
import type {
  EndpointChanges,
  EndpointCreate,
  EndpointRecord,
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

/** A GPU type that the service has. */
export interface GpuTypeRecord {
  id: string;
  name: string;
  memoryInGb?: number | undefined;
  manufacturer?: string | undefined;
  /** Pool of serverless endpoints that has it; undefined where none does. */
  pool?: string | undefined;
  /** Price in US dollars per hour, if the service reports one. */
  price?: number | undefined;
}

/** A data centre of the service. */
export interface DataCenterRecord {
  id: string;
  name: string;
  region?: string | undefined;
}

/** How one call is made. */
export interface CallOptions {
  /** Aborts the call and its retries; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Aborts the waits between tries only: a try that is under way goes on until `signal` ends it. */
  waitSignal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its retries; the clients' setting when absent. */
  deadline?: number | undefined;
  /** Values that no error of this call may show, beside the key and what the call itself sends as a secret. */
  secrets?: readonly string[] | undefined;
  /** Called when the call is given up because another try would come after its deadline. */
  onDeadline?: (() => void) | undefined;
  /** Said before each wait for another try. */
  onRetry?: ((notice: { error: Error; attempt: number; delay: number }) => void) | undefined;
  /** Said before a wait of a second or more for calls to be let pass again, because a limit of the service is used up. */
  onPause?: ((notice: { delay: number }) => void) | undefined;
  /** Called with each element of a list that does not fit its shape; the list leaves it out. Without this such a list rejects. */
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
  /** Changes what is named; everything else stays, also what this client has no name for. */
  updateTemplate(
    id: string,
    changes: TemplateSettings,
    options?: CallOptions & { settings?: TemplateSettings },
  ): Promise<TemplateRecord>;
  readTemplate(id: string, options?: CallOptions): Promise<TemplateRecord | undefined>;
  listTemplates(options?: CallOptions): Promise<TemplateRecord[]>;
  /**
   * Deletes a template by its id or its present name, whichever the dialect goes by; category `inUse` while an endpoint
   * uses it or its release is not over. By name it is never sent again when it may have been carried out (`ambiguous`):
   * the name may belong to another template by then.
   */
  deleteTemplate(template: { id: string; name: string }, options?: CallOptions): Promise<void>;

  /**
   * The endpoints that are bound to a template, which cannot be deleted while they are. REST v2 does not show them: there
   * these are the endpoints that may be bound, because they have the template's settings and are no marked copy.
   */
  listBound(template: TemplateRecord, options?: CallOptions): Promise<Pick<EndpointRecord, "id" | "name">[]>;

  createEndpoint(settings: EndpointCreate, options?: CallOptions): Promise<EndpointRecord>;
  readEndpoint(id: string, options?: CallOptions): Promise<EndpointRecord | undefined>;
  /** The version of an endpoint in a dialect whose records do not show it; undefined where nothing does. */
  readEndpointVersion(id: string, options?: CallOptions): Promise<number | undefined>;
  listEndpoints(options?: CallOptions): Promise<EndpointRecord[]>;
  /** The endpoints that have a copy of a template's settings and say so: a change of the template does not reach them by itself. */
  listCopies(templateId: string, options?: CallOptions): Promise<EndpointRecord[]>;
  /** Gives one of these endpoints the template's present settings. */
  updateCopy(endpoint: EndpointRecord, templateId: string, options?: CallOptions): Promise<void>;
  updateEndpoint(
    id: string,
    changes: EndpointChanges,
    options?: CallOptions & { settings?: EndpointSettings },
  ): Promise<Pick<EndpointRecord, "id" | "requestUrl" | "version">>;
  /** The address and the body of the PATCH that gives an endpoint another template, for a person who sends it by hand. */
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
  /** Absent where the dialect cannot read a single one. */
  readSecret?(id: string, options?: CallOptions): Promise<SecretRecord | undefined>;
  /** With `name` at least those of that name: a dialect without such a filter lists all. */
  listSecrets(options?: CallOptions & { name?: string }): Promise<SecretRecord[]>;
  updateSecretValue(input: { id: string; value: string }, options?: CallOptions): Promise<void>;
  updateSecretDescription(input: { id: string; description: string }, options?: CallOptions): Promise<void>;
  deleteSecret(id: string, options?: CallOptions): Promise<void>;

  createRegistryAuth(input: RegistryAuthCreate, options?: CallOptions): Promise<RegistryAuthRecord>;
  listRegistryAuths(options?: CallOptions): Promise<RegistryAuthRecord[]>;
  /** Sets new credentials under the same id and name; v2 cannot, and refuses. */
  updateRegistryAuth(input: RegistryAuthUpdate, options?: CallOptions): Promise<void>;
  deleteRegistryAuth(id: string, options?: CallOptions): Promise<void>;

  listGpuTypes(options?: CallOptions): Promise<GpuTypeRecord[]>;
  listDataCenters(options?: CallOptions): Promise<DataCenterRecord[]>;
}
