import type {
  DataCenterRecord,
  EndpointHealth,
  EndpointRecord,
  GpuTypeRecord,
  NetworkVolumeRecord,
  SecretRecord,
  TemplateRecord,
} from "serverless-compute-api";
import { isApiError } from "serverless-compute-api";
import { secretReference } from "serverless-compute-api/shapes";
import { type CallContext, callOptions } from "../lifecycle/calls";
import { withExplanation } from "../lifecycle/messages";
import type { ObjectReader } from "../lifecycle/reader";
import { networkVolume } from "../resources/network-volume/lifecycle";
import { secret } from "../resources/secret/lifecycle";
import { serverlessEndpoint } from "../resources/serverless-endpoint/lifecycle";
import { urlOf, withVersion } from "../resources/serverless-endpoint/record";
import { template } from "../resources/template/lifecycle";
import { revisionOf } from "../resources/template/revision";

/** Identifies an existing object by its id, or by a name that is unique for its kind. */
export type LookUp = { id: string; name?: undefined } | { name: string; id?: undefined };

/** Runs the requests of a lookup. A failed request is explained, with `label` as the subject. */
async function explained<Result>(
  label: string,
  { settings }: CallContext,
  requests: () => Promise<Result>,
): Promise<Result> {
  try {
    return await requests();
  } catch (error) {
    throw withExplanation(error, { label, verb: "look up", names: settings.names });
  }
}

/** Finds an object; rejects if it does not exist or if several objects have the name. */
async function find<ApiObject extends { id: string; name: string }>(
  kind: string,
  { id, name }: LookUp,
  reader: ObjectReader<ApiObject>,
  context: CallContext,
): Promise<ApiObject> {
  const key = id ?? name ?? "";
  if (key === "" || (id !== undefined && name !== undefined))
    throw new TypeError(`a lookup of a ${kind} requires either an id or a name, not both`);
  const label = `${kind} "${key}"`;
  return explained(label, context, async () => {
    if (id !== undefined) {
      const object = await reader.get(id, context);
      if (object) return object;
      throw new Error(`${label} does not exist: no object in the account has this id`);
    }
    const listing = await reader.list(context);
    const [object, ...duplicates] = listing.objects.filter((candidate) => candidate.name === name);
    // An unreadable object may have the requested name.
    const unreadable = listing.unreadable.find((candidate) => candidate.name === undefined || candidate.name === name);
    if (unreadable) throw unreadable.error;
    if (!object) throw new Error(`${label} does not exist: no object in the account has this name`);
    if (duplicates.length === 0) return object;
    const ids = [object, ...duplicates].map((match) => match.id).join(", ");
    throw new Error(`${label} is ambiguous: several objects have this name (${ids}); look it up by id`);
  });
}

/** Finds a template and computes the hash of its workers' content. */
export async function getTemplate(
  lookup: LookUp,
  context: CallContext,
): Promise<TemplateRecord & { revision: string }> {
  const record = await find("Template", lookup, template.reader(context), context);
  return { ...record, revision: revisionOf(record) };
}

/** Finds an endpoint, with its version, its workers' image and the URL for requests. */
export async function getServerlessEndpoint(
  lookup: LookUp,
  context: CallContext,
): Promise<EndpointRecord & { url: string; imageName: string | undefined }> {
  const record = await find("ServerlessEndpoint", lookup, serverlessEndpoint.reader(context), context);
  const { container, templateId } = record;
  return explained(`ServerlessEndpoint "${record.name}"`, context, async () => {
    const { management } = context.clients;
    const { version } = await withVersion(record, {}, context);
    const workers =
      container ?? (templateId ? await management.readTemplate(templateId, callOptions(context)) : undefined);
    return { ...record, version, imageName: workers?.imageName, url: urlOf(record, context) };
  });
}

/** Finds a network volume. */
export const getNetworkVolume = (lookup: LookUp, context: CallContext): Promise<NetworkVolumeRecord> =>
  find("NetworkVolume", lookup, networkVolume.reader(context), context);

/** Finds a secret, with the reference for templates but without its value. */
export async function getSecret(lookup: LookUp, context: CallContext): Promise<SecretRecord & { reference: string }> {
  const record = await find("Secret", lookup, secret.reader(context), context);
  return { ...record, reference: secretReference(record.name) };
}

/** Lists the GPU types of the service or of one pool, cheapest first; types without a price are last. */
export async function getGpuTypes(
  { pool }: { pool?: string | undefined },
  context: CallContext,
): Promise<{ gpuTypes: GpuTypeRecord[] }> {
  const { management } = context.clients;
  const gpuTypes = await explained("GPU types", context, () => management.listGpuTypes(callOptions(context)));
  const matches = gpuTypes.filter((type) => pool === undefined || type.pool === pool);
  const priceOf = ({ price: perHour = Number.POSITIVE_INFINITY }: GpuTypeRecord): number => perHour;
  return { gpuTypes: matches.toSorted((a, b) => (priceOf(a) === priceOf(b) ? 0 : priceOf(a) - priceOf(b))) };
}

/** Lists the data centres of the service or of one region. */
export async function getDataCenters(
  { region }: { region?: string | undefined },
  context: CallContext,
): Promise<{ dataCenters: DataCenterRecord[] }> {
  const { management } = context.clients;
  const dataCenters = await explained("data centres", context, () => management.listDataCenters(callOptions(context)));
  return { dataCenters: dataCenters.filter((center) => region === undefined || center.region === region) };
}

/** Counts the current jobs and workers of an endpoint. */
export async function getEndpointHealth(endpointId: string, context: CallContext): Promise<EndpointHealth> {
  const label = `endpoint "${endpointId}"`;
  try {
    return await context.clients.jobs.health(endpointId, callOptions(context));
  } catch (error) {
    if (isApiError(error, "missing"))
      throw new Error(`${label} is unknown to the service (${error.message}): check the id`, { cause: error });
    throw withExplanation(error, { label, verb: "look up", names: context.settings.names });
  }
}
