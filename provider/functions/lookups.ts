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
import { explained } from "../lifecycle/messages";
import { networkVolume } from "../resources/network-volume/lifecycle";
import { secret } from "../resources/secret/lifecycle";
import { serverlessEndpoint } from "../resources/serverless-endpoint/lifecycle";
import { template } from "../resources/template/lifecycle";
import { revisionOf } from "../resources/template/revision";

/** Identifies an existing object by its id, or by a name that is unique for its kind. */
export type LookUp = { id: string; name?: undefined } | { name: string; id?: undefined };

type LookUpContext = Pick<Context, "clients" | "clock" | "signal" | "progress" | "secrets">;

interface Source<Found> {
  all(context: LookUpContext): Promise<Listing<Found>>;
  one(id: string, context: LookUpContext): Promise<Found | undefined>;
}

/** Finds one object; rejects with a sentence when there is none or the name fits several. */
async function find<Found extends { id: string; name: string }>(
  kind: string,
  { id, name }: LookUp,
  source: Source<Found>,
  context: LookUpContext,
): Promise<Found> {
  const asked = id ?? name ?? "";
  if (asked === "" || (id !== undefined && name !== undefined))
    throw new TypeError(`a lookup of a ${kind} requires either an id or a name, not both`);
  const label = `${kind} "${asked}"`;
  try {
    if (id !== undefined) {
      const found = await source.one(id, context);
      if (found) return found;
      throw new Error(`${label} does not exist: no object in the account has this id`);
    }
    const listing = await source.all(context);
    const [found, ...others] = listing.found.filter((one) => one.name === name);
    // One that cannot be read may be the one that is meant, or another one of its name.
    const suspect = listing.unreadable.find((one) => one.name === undefined || one.name === name);
    if (suspect) throw suspect.error;
    if (!found) throw new Error(`${label} does not exist: no object in the account has this name`);
    if (others.length === 0) return found;
    const ids = [found, ...others].map((one) => one.id).join(", ");
    throw new Error(`${label} is ambiguous, several objects have this name (${ids}): look it up by id`);
  } catch (error) {
    throw explained(error, { label, verb: "look up" });
  }
}

/** A template that exists, with the hash of what its workers run. */
export async function getTemplate(
  which: LookUp,
  context: LookUpContext,
): Promise<TemplateRecord & { revision: string }> {
  const record = await find("Template", which, template.reads(context), context);
  return { ...record, revision: revisionOf(record) };
}

/** An existing endpoint, with its version, the image of its workers and the URL of its requests. */
export async function getServerlessEndpoint(
  which: LookUp,
  context: LookUpContext,
): Promise<EndpointRecord & { url: string; imageName: string | undefined }> {
  const record = await find("ServerlessEndpoint", which, serverlessEndpoint.reads(context), context);
  const { jobs, management } = context.clients;
  const options = callOptions(context);
  const version = record.version ?? (await management.readReleases(record.id, options))?.endpointVersion;
  const container =
    record.container ?? (record.templateId && (await management.readTemplate(record.templateId, options)));
  const imageName = container ? container.imageName : undefined;
  return { ...record, version, imageName, url: record.requestUrl ?? jobs.url(record.id) };
}

/** A network volume that exists. */
export const getNetworkVolume = (which: LookUp, context: LookUpContext): Promise<NetworkVolumeRecord> =>
  find("NetworkVolume", which, networkVolume.reads(context), context);

/** A secret that exists, with the text that templates refer to it by; never its value. */
export async function getSecret(which: LookUp, context: LookUpContext): Promise<SecretRecord & { reference: string }> {
  const record = await find("Secret", which, secret.reads(context), context);
  return { ...record, reference: secretReference(record.name) };
}

/** Lists a catalog of the service in its own terms; `kind` is for error messages. */
async function catalogue<Found>(
  kind: string,
  context: LookUpContext,
  list: (management: Management) => List<Found>,
): Promise<Found[]> {
  try {
    return await list(context.clients.management)(callOptions(context));
  } catch (error) {
    throw explained(error, { label: kind, verb: "look up" });
  }
}

/** The GPU types of the service, or of one pool, cheapest first; those without a price come last. */
export async function getGpuTypes(
  { pool }: { pool?: string | undefined },
  context: LookUpContext,
): Promise<{ gpuTypes: GpuTypeRecord[] }> {
  const all = await catalogue("GPU types", context, (management) => management.listGpuTypes);
  const found = all.filter((type) => pool === undefined || type.pool === pool);
  const price = ({ price: one = Number.POSITIVE_INFINITY }: GpuTypeRecord): number => one;
  return { gpuTypes: found.toSorted((a, b) => (price(a) === price(b) ? 0 : price(a) - price(b))) };
}

/** The data centres of the service, or of one region. */
export async function getDataCenters(
  { region }: { region?: string | undefined },
  context: LookUpContext,
): Promise<{ dataCenters: DataCenterRecord[] }> {
  const all = await catalogue("data centres", context, (management) => management.listDataCenters);
  return { dataCenters: all.filter((center) => region === undefined || center.region === region) };
}

/** Jobs and workers of an endpoint as they are now. */
export async function getEndpointHealth(endpointId: string, context: LookUpContext): Promise<EndpointHealth> {
  const label = `endpoint "${endpointId}"`;
  try {
    return await context.clients.jobs.health(endpointId, callOptions(context));
  } catch (error) {
    if (isApiError(error, "missing"))
      throw new Error(`${label} is unknown to the service (${error.message}): check the id`, { cause: error });
    throw explained(error, { label, verb: "look up" });
  }
}
