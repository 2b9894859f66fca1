import type { UnreadableElement } from "./answer";
import type {
  NetworkVolumeCreate,
  NetworkVolumePatch,
  NetworkVolumeRecord,
  RegistryAuthCreate,
  RegistryAuthRecord,
  RegistryAuthUpdate,
  SaveTemplateInput,
  SecretCreateInput,
  SecretRecord,
  ServerlessEndpointCreate,
  ServerlessEndpointPatch,
  ServerlessEndpointRecord,
  TemplatePatch,
  TemplateRecord,
} from "./shapes";

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
  /** Called with each element of a list that does not fit its shape; the list leaves it out. Without this such a list rejects. */
  onUnreadable?: ((element: UnreadableElement) => void) | undefined;
}

/**
 * What lifecycles need of the management APIs, free of paths and documents, so that a second dialect can stand behind it.
 * Every call rejects with an ApiError. Reads of one object return undefined when it does not exist;
 * deletes of an absent object reject with category `missing`.
 * Creates are sent again only when the service cannot have carried them out; an `ambiguous` error says it may have.
 */
export interface Management {
  /** Creates a template without `id`; with it replaces what the service holds, also fields that the input leaves out. */
  saveTemplate(input: SaveTemplateInput, options?: CallOptions): Promise<TemplateRecord>;
  /** Changes what the patch names; everything else stays, also what this client has no name for. */
  updateTemplate(id: string, patch: TemplatePatch, options?: CallOptions): Promise<TemplateRecord>;
  readTemplate(id: string, options?: CallOptions): Promise<TemplateRecord | undefined>;
  listTemplates(options?: CallOptions): Promise<TemplateRecord[]>;
  /**
   * Deletes by name; category `inUse` while an endpoint uses it or its release is not over. Never sent again when it may
   * have been carried out (`ambiguous`): the name may belong to another template by then.
   */
  deleteTemplate(name: string, options?: CallOptions): Promise<void>;

  createEndpoint(input: ServerlessEndpointCreate, options?: CallOptions): Promise<ServerlessEndpointRecord>;
  readEndpoint(id: string, options?: CallOptions): Promise<ServerlessEndpointRecord | undefined>;
  listEndpoints(options?: CallOptions): Promise<ServerlessEndpointRecord[]>;
  updateEndpoint(id: string, patch: ServerlessEndpointPatch, options?: CallOptions): Promise<ServerlessEndpointRecord>;
  deleteEndpoint(id: string, options?: CallOptions): Promise<void>;

  createNetworkVolume(input: NetworkVolumeCreate, options?: CallOptions): Promise<NetworkVolumeRecord>;
  readNetworkVolume(id: string, options?: CallOptions): Promise<NetworkVolumeRecord | undefined>;
  listNetworkVolumes(options?: CallOptions): Promise<NetworkVolumeRecord[]>;
  updateNetworkVolume(id: string, patch: NetworkVolumePatch, options?: CallOptions): Promise<NetworkVolumeRecord>;
  deleteNetworkVolume(id: string, options?: CallOptions): Promise<void>;

  createSecret(input: SecretCreateInput, options?: CallOptions): Promise<SecretRecord>;
  listSecrets(options?: CallOptions): Promise<SecretRecord[]>;
  updateSecretValue(input: { id: string; value: string }, options?: CallOptions): Promise<void>;
  updateSecretDescription(input: { id: string; description: string }, options?: CallOptions): Promise<void>;
  deleteSecret(id: string, options?: CallOptions): Promise<void>;

  createRegistryAuth(input: RegistryAuthCreate, options?: CallOptions): Promise<RegistryAuthRecord>;
  listRegistryAuths(options?: CallOptions): Promise<RegistryAuthRecord[]>;
  /** Sets new credentials under the same id and name. */
  updateRegistryAuth(input: RegistryAuthUpdate, options?: CallOptions): Promise<void>;
  deleteRegistryAuth(id: string, options?: CallOptions): Promise<void>;
}
