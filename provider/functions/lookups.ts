import type {
  DataCenterRecord,
  EndpointHealth,
  EndpointRecord,
  GpuTypeRecord,
  Management,
  NetworkVolumeRecord,
  SecretRecord,
  TemplateRecord,
} from "serverless-compute-api";
import { isApiError } from "serverless-compute-api";
import { secretReference } from "serverless-compute-api/shapes";
import { callOptions } from "../lifecycle/calls";
import type { Context } from "../lifecycle/contract";
import type { List, Listing } from "../lifecycle/listing";
import { withExplanation } from "../lifecycle/messages";
import { networkVolume } from "../resources/network-volume/lifecycle";
import { secret } from "../resources/secret/lifecycle";
import { serverlessEndpoint } from "../resources/serverless-endpoint/lifecycle";
import { template } from "../resources/template/lifecycle";
import { revisionOf } from "../resources/template/revision";

/** Identifies an existing object by its id, or by a name that is unique for its kind. */
export type LookUp = { id: string; name?: undefined } | { name: string; id?: undefined };

type LookupContext = Pick<Context, "clients" | "clock" | "signal" | "progress" | "secrets">;

/** Reads the objects of a kind. */
interface Source<ApiObject> {
  list(context: LookupContext): Promise<Listing<ApiObject>>;
  get(id: string, context: LookupContext): Promise<ApiObject | undefined>;
}

/** Finds an object; rejects if it does not exist or if several objects have the name. */
async function find<ApiObject extends { id: string; name: string }>(
  kind: string,
  { id, name }: LookUp,
  source: Source<ApiObject>,
  context: LookupContext,
): Promise<ApiObject> {
  const key = id ?? name ?? "";
  if (key === "" || (id !== undefined && name !== undefined))
    throw new TypeError(`a lookup of a ${kind} requires either an id or a name, not both`);
  const label = `${kind} "${key}"`;
  try {
    if (id !== undefined) {
      const object = await source.get(id, context);
      if (object) return object;
      throw new Error(`${label} does not exist: no object in the account has this id`);
    }
    const listing = await source.list(context);
    const [object, ...duplicates] = listing.objects.filter((candidate) => candidate.name === name);
    // An unreadable object may have the requested name.
    const unreadable = listing.unreadable.find((candidate) => candidate.name === undefined || candidate.name === name);
    if (unreadable) throw unreadable.error;
    if (!object) throw new Error(`${label} does not exist: no object in the account has this name`);
    if (duplicates.length === 0) return object;
    const ids = [object, ...duplicates].map((match) => match.id).join(", ");
    throw new Error(`${label} is ambiguous: several objects have this name (${ids}); look it up by id`);
  } catch (error) {
    throw withExplanation(error, { label, verb: "look up" });
  }
}

/** Finds a template and computes the hash of its workers' content. */
export async function getTemplate(
  lookup: LookUp,
  context: LookupContext,
): Promise<TemplateRecord & { revision: string }> {
  const record = await find("Template", lookup, template.reader(context), context);
  return { ...record, revision: revisionOf(record) };
}

/** Finds an endpoint, with its version, its workers' image and the URL for requests. */
export async function getServerlessEndpoint(
  lookup: LookUp,
  context: LookupContext,
): Promise<EndpointRecord & { url: string; imageName: string | undefined }> {
  const record = await find("ServerlessEndpoint", lookup, serverlessEndpoint.reader(context), context);
  const { jobs, management } = context.clients;
  const options = callOptions(context);
  const version = record.version ?? (await management.readReleases(record.id, options))?.endpointVersion;
  const container =
    record.container ?? (record.templateId && (await management.readTemplate(record.templateId, options)));
  const imageName = container ? container.imageName : undefined;
  return { ...record, version, imageName, url: record.requestUrl ?? jobs.url(record.id) };
}

/** Finds a network volume. */
export const getNetworkVolume = (lookup: LookUp, context: LookupContext): Promise<NetworkVolumeRecord> =>
  find("NetworkVolume", lookup, networkVolume.reader(context), context);

/** Finds a secret, with the reference for templates but without its value. */
export async function getSecret(lookup: LookUp, context: LookupContext): Promise<SecretRecord & { reference: string }> {
  const record = await find("Secret", lookup, secret.reader(context), context);
  return { ...record, reference: secretReference(record.name) };
}

/** Lists a catalogue of the service; `kind` is used in error messages. */
async function listCatalog<ApiObject>(
  kind: string,
  context: LookupContext,
  list: (management: Management) => List<ApiObject>,
): Promise<ApiObject[]> {
  try {
    return await list(context.clients.management)(callOptions(context));
  } catch (error) {
    throw withExplanation(error, { label: kind, verb: "look up" });
  }
}

/** Lists the GPU types of the service or of one pool, cheapest first; types without a price are last. */
export async function getGpuTypes(
  { pool }: { pool?: string | undefined },
  context: LookupContext,
): Promise<{ gpuTypes: GpuTypeRecord[] }> {
  const gpuTypes = await listCatalog("GPU types", context, (management) => management.listGpuTypes);
  const matches = gpuTypes.filter((type) => pool === undefined || type.pool === pool);
  const priceOf = ({ price: perHour = Number.POSITIVE_INFINITY }: GpuTypeRecord): number => perHour;
  return { gpuTypes: matches.toSorted((a, b) => (priceOf(a) === priceOf(b) ? 0 : priceOf(a) - priceOf(b))) };
}

/** Lists the data centres of the service or of one region. */
export async function getDataCenters(
  { region }: { region?: string | undefined },
  context: LookupContext,
): Promise<{ dataCenters: DataCenterRecord[] }> {
  const dataCenters = await listCatalog("data centres", context, (management) => management.listDataCenters);
  return { dataCenters: dataCenters.filter((center) => region === undefined || center.region === region) };
}

/** Counts the current jobs and workers of an endpoint. */
export async function getEndpointHealth(endpointId: string, context: LookupContext): Promise<EndpointHealth> {
  const label = `endpoint "${endpointId}"`;
  try {
    return await context.clients.jobs.health(endpointId, callOptions(context));
  } catch (error) {
    if (isApiError(error, "missing"))
      throw new Error(`${label} is unknown to the service (${error.message}): check the id`, { cause: error });
    throw withExplanation(error, { label, verb: "look up" });
  }
}
