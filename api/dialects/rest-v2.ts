import { requestInfo } from "../address";
import { invalidArgument, isApiError, type RequestInfo } from "../errors";
import type { CallOptions, EndpointUpdate, ManagementClient } from "../management";
import { longValues } from "../redaction";
import {
  containerFields,
  type EndpointChanges,
  type EndpointSettings,
  markedCopy,
  networkVolumeFields,
  type OwnContainer,
  ownContainerIn,
  registryAuthRecord,
  secretRecord,
  type TemplateRecord,
  toV2Names,
  type V2EndpointRecord,
  v2EndpointRecord,
  v2NetworkVolumeRecord,
  v2ReleasesRecord,
  v2TemplateRecord,
  v2Workers,
  withChangedVariables,
  withMark,
} from "../shapes";
import type { Transport, TransportRequest } from "../transport";
import { selectPools } from "./gpu-pools";
import { collection, createRestCalls, sharedOptions, templateNotFound, untilEnded } from "./rest-calls";
import { endpointBody, endpointPatch, hasAny, templateBody, withPropertyNames } from "./rest-v2-bodies";
import { createRestV2Catalog } from "./rest-v2-catalog";
import { endpointFrom } from "./rest-v2-records";

const secretValuesOf = ({ env = {} }: OwnContainer): string[] => longValues(Object.values(env));

/**
 * The management operations through REST v2. `baseUrl` includes the version prefix and has no trailing slash.
 *
 * Endpoints with a template are created with a copy of its settings instead of a `templateId`, because the service deletes an endpoint
 * together with its bound template, which other endpoints may share. A variable of the copy names the template.
 */
export function createRestV2Management(transport: Transport, { baseUrl }: { baseUrl: string }): ManagementClient {
  const calls = createRestCalls({
    ...transport,
    send: (request, options) =>
      transport.send(request, options).catch((error: unknown) => {
        // Other errors, such as that of a gateway, are not about the body.
        if (isApiError(error, "invalid", "missing", "conflict", "inUse") && request.body !== undefined)
          error.message = withPropertyNames(error.message);
        throw error;
      }),
  });
  const { send, list, read, remove, patch } = calls;
  const { pools, ...catalog } = createRestV2Catalog(calls, baseUrl);

  const endpoints = collection(baseUrl, "serverless", "endpoint");
  const templates = collection(baseUrl, "templates", "template");
  const volumes = collection(baseUrl, "network-volumes", "network volume");
  const registries = collection(baseUrl, "registries", "registry auth");
  const secrets = collection(baseUrl, "account/secrets", "secret");

  const post = (url: string, body: object, secrets: readonly string[] = []): TransportRequest => {
    return { method: "POST", url, body, idempotent: false, secrets };
  };
  /** Cache of templates by id, including pending reads, because an endpoint requires its template's settings. */
  const templateCache = new Map<string, Promise<TemplateRecord | undefined>>();
  const cacheTemplate = (record: TemplateRecord): TemplateRecord => {
    templateCache.set(record.id, Promise.resolve(record));
    return record;
  };
  const readTemplate: ManagementClient["readTemplate"] = async (id, options) => {
    const record = await read(v2TemplateRecord, templates.of("GET", id), options);
    return record && cacheTemplate(record);
  };

  /** The container settings of an endpoint. If its template does not exist, rejects with the same error as the service. */
  async function containerFor(
    settings: Pick<EndpointSettings, "templateId"> & OwnContainer,
    request: RequestInfo,
    options?: CallOptions,
  ): Promise<OwnContainer> {
    const { templateId: id } = settings;
    const own = ownContainerIn(settings);
    if (id === undefined) return own;
    const pending = templateCache.get(id) ?? readTemplate(id, sharedOptions(options));
    templateCache.set(id, pending);
    const removeFromCache = (): void => {
      if (templateCache.get(id) === pending) templateCache.delete(id);
    };
    pending.catch(removeFromCache);
    const template = await untilEnded(pending, request, options);
    if (template) return markedCopy(template, own);
    removeFromCache();
    throw templateNotFound(id, request);
  }

  /**
   * The settings that change an endpoint's container. Of a copy of a template, these are all of a new template, otherwise the changed ones,
   * because the others may have other values on purpose. The same applies to variables.
   */
  async function changedContainer(
    changes: EndpointChanges,
    readCurrent: () => Promise<V2EndpointRecord | undefined>,
    request: RequestInfo,
    options: CallOptions & EndpointUpdate = {},
  ): Promise<OwnContainer> {
    const { settings = changes, isChangedVariable } = options;
    const own = ownContainerIn(changes);
    const isCopy = settings.templateId !== undefined;
    const target = isCopy ? await containerFor(settings, request, options) : own;
    if (changes.templateId !== undefined || !(isCopy || (own.env && isChangedVariable))) return target;
    const record = await readCurrent();
    const { container, templateId } = record ? endpointFrom(record, undefined) : {};
    if (!container || templateId !== settings.templateId) return target;
    const env = Object.hasOwn(changes, "env")
      ? withChangedVariables(container.env, target.env ?? {}, isChangedVariable ?? (() => true))
      : container.env;
    if (templateId === undefined) return { ...own, env };
    const marked = withMark({ ...container, env }, templateId, ownContainerIn(settings));
    const changed = Object.entries(target).filter(([name]) => name !== "env" && Object.hasOwn(changes, name));
    return { env: marked.env, ...Object.fromEntries(changed) };
  }

  /**
   * The complete settings after a change. Someone else may have changed the type of the scaler, which a new value does not change if it is
   * valid for that type.
   */
  async function settingsAfter(
    changes: EndpointChanges,
    settings: EndpointChanges & Pick<EndpointSettings, "computeType" | "type">,
    readCurrent: () => Promise<V2EndpointRecord | undefined>,
  ): Promise<typeof settings> {
    const { scalerType, scalerValue, idleTimeout } = changes;
    if (scalerValue === undefined || scalerType !== undefined) return settings;
    const type = (await readCurrent())?.scaling?.type;
    if (type === "QUEUE_DELAY") return { ...settings, scalerType: type };
    const isValid = Number.isInteger(scalerValue) && scalerValue >= 1 && idleTimeout === undefined;
    return type === "REQUEST_COUNT" && isValid ? { ...settings, scalerType: type } : settings;
  }

  const toEndpointRecord = async (record: V2EndpointRecord, options: CallOptions | undefined) =>
    endpointFrom(record, record.gpu ? await pools(options) : undefined);

  return {
    async createTemplate(settings, options) {
      const request = post(templates.url, templateBody(settings), secretValuesOf(settings));
      return cacheTemplate(await send(v2TemplateRecord, request, options));
    },
    async updateTemplate(id, changes, options) {
      // The settings are unknown until the response arrives.
      templateCache.delete(id);
      const body = templateBody(changes, options?.settings);
      const request = patch(templates.of("PATCH", id), body, secretValuesOf(changes));
      return cacheTemplate(await send(v2TemplateRecord, request, options));
    },
    readTemplate,
    // Not cached: an update may change a template while later pages are read.
    listTemplates: (options) => list(v2TemplateRecord, templates.url, options, "templates"),
    async deleteTemplate(id, options) {
      templateCache.delete(id);
      await remove(templates.of("DELETE", id), options);
    },

    async createEndpoint(settings, options) {
      const info = requestInfo({ method: "POST", url: endpoints.url });
      const container = await containerFor(settings, info, options);
      const usesGpu = settings.computeType !== "CPU";
      const selectedPools = usesGpu ? selectPools(await pools(options), settings, info) : undefined;
      const request = post(endpoints.url, endpointBody(settings, container, selectedPools), secretValuesOf(container));
      return toEndpointRecord(await send(v2EndpointRecord, request, options), options);
    },
    async readEndpoint(id, options) {
      const record = await read(v2EndpointRecord, endpoints.of("GET", id), options);
      return record && toEndpointRecord(record, options);
    },
    readReleases: async (id, options) => read(v2ReleasesRecord, `${endpoints.of("GET", id)}/releases`, options),
    async listEndpoints(options) {
      const records = await list(v2EndpointRecord, endpoints.url, options, "endpoints");
      return Promise.all(records.map((record) => toEndpointRecord(record, options)));
    },
    async updateCopy({ id, own }, { templateId, ...container }, options) {
      const body = endpointPatch({}, {}, withMark(container, templateId, own), undefined);
      await send(v2EndpointRecord, patch(endpoints.of("PATCH", id), body, secretValuesOf(container)), options);
    },
    async updateEndpoint(id, changes, options) {
      const url = endpoints.of("PATCH", id);
      const info = requestInfo({ method: "PATCH", url });
      let current: Promise<V2EndpointRecord | undefined> | undefined;
      const readCurrent = () => (current ??= read(v2EndpointRecord, url, options));
      const settings = await settingsAfter(changes, options?.settings ?? changes, readCurrent);
      const changesContainer = Object.keys(changes).some((name) => name === "templateId" || name in containerFields);
      const container = changesContainer ? await changedContainer(changes, readCurrent, info, options) : {};
      const changesGpuTypes = hasAny(changes, "gpuTypeIds", "gpuPools", "excludedGpuTypeIds");
      const usesGpu = options?.settings?.computeType !== "CPU";
      const knownPools = changesGpuTypes && usesGpu ? await pools(options) : undefined;
      const selectedPools = knownPools && selectPools(knownPools, settings, info);
      const request = patch(url, endpointPatch(changes, settings, container, selectedPools), secretValuesOf(container));
      return endpointFrom(await send(v2EndpointRecord, request, options), knownPools);
    },
    async readWorkers(id, options) {
      const url = `${endpoints.of("GET", id)}/workers`;
      const { endpointVersion, workers } = await send(v2Workers, { method: "GET", url, idempotent: true }, options);
      return { version: endpointVersion, workers };
    },
    async deleteEndpoint(id, options) {
      await remove(endpoints.of("DELETE", id), options);
    },

    async createNetworkVolume(settings, options) {
      return send(v2NetworkVolumeRecord, post(volumes.url, toV2Names(networkVolumeFields, settings)), options);
    },
    async readNetworkVolume(id, options) {
      return read(v2NetworkVolumeRecord, volumes.of("GET", id), options);
    },
    listNetworkVolumes: (options) => list(v2NetworkVolumeRecord, volumes.url, options, "networkVolumes"),
    async updateNetworkVolume(id, changes, options) {
      return send(v2NetworkVolumeRecord, patch(volumes.of("PATCH", id), changes), options);
    },
    async deleteNetworkVolume(id, options) {
      await remove(volumes.of("DELETE", id), options);
    },

    createSecret: ({ name, value, description }, options) =>
      send(secretRecord, post(secrets.url, { name, value, ...(description ? { description } : {}) }, [value]), options),
    readSecret: async (id, options) => read(secretRecord, secrets.of("GET", id), options),
    listSecrets: (options) => list(secretRecord, secrets.url, options, "secrets"),
    async updateSecretValue({ id, value }, options) {
      await send(secretRecord, patch(secrets.of("PATCH", id), { value }, [value]), options);
    },
    async updateSecretDescription({ id, description }, options) {
      await send(secretRecord, patch(secrets.of("PATCH", id), { description }), options);
    },
    async deleteSecret(id, options) {
      await remove(secrets.of("DELETE", id), options);
    },

    createRegistryAuth: ({ name, username, password }, options) =>
      send(registryAuthRecord, post(registries.url, { name, username, password }, [password]), options),
    readRegistryAuth: async (id, options) => read(registryAuthRecord, registries.of("GET", id), options),
    listRegistryAuths: (options) => list(registryAuthRecord, registries.url, options, "registries"),
    async updateRegistryAuth({ id }) {
      const request = requestInfo({ method: "PATCH", url: registries.of("PATCH", id) });
      throw invalidArgument("REST v2 cannot change saved credentials; save new ones under another name", request);
    },
    async deleteRegistryAuth(id, options) {
      await remove(registries.of("DELETE", id), options);
    },

    ...catalog,
  };
}
