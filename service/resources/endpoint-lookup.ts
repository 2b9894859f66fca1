import { notFound, ServiceError } from "../errors";
import { instanceOf } from "./catalog";
import type { EndpointRow, EndpointTable } from "./endpoint-table";
import type { RegistryAuths, RegistryCredentials } from "./registry-auths";
import type { Releases } from "./releases";
import type { Secrets } from "./secrets";
import type { Stock } from "./stock";
import { commandLineOf, startCommandOf, type TemplateTable } from "./template-table";
import type { Volumes } from "./volumes";

/** Start parameters of a worker. */
export interface WorkerEnvironment {
  image: string;
  /** Start arguments of the container as one command line, not split. */
  dockerArgs: string;
  /** The template's variables, overridden by the endpoint's, with secret references replaced. */
  env: Record<string, string>;
  /** Secret values in `env`, which are redacted in logs. */
  secretValues: string[];
  container: ContainerNeeds;
}

/** Template and endpoint settings that only containers use. */
export interface ContainerNeeds {
  /** Replaces the image's entrypoint unless empty. */
  entrypoint: string[];
  /** Credentials for pulling the image. */
  registryAuth: RegistryCredentials | undefined;
  diskInGb: number;
  /** Network volume mounted at each of `mountPaths`; undefined without a volume. */
  volumeId: string | undefined;
  volumeSizeInGb: number;
  mountPaths: string[];
  /** Number of GPUs; 0 for a CPU endpoint. */
  gpus: number;
  /** Allowed GPU types; empty for any. */
  gpuTypeIds: string[];
  /** Data centre of the volume, otherwise the allowed data centres; empty for any. */
  dataCenterIds: string[];
  /** CPU and memory limits of a CPU endpoint; undefined for a GPU endpoint, which has no limits. */
  cpu: { vcpus: number; memoryInGb: number } | undefined;
}

/** Mount path of a serverless worker's volume on the hosted service. */
const serverlessMountPath = "/runpod-volume";

/** The first instance of a CPU endpoint. */
function cpuOf({ instanceIds: [first] }: EndpointRow): ContainerNeeds["cpu"] {
  if (first === undefined) return undefined;
  const { vcpuCount, memory } = instanceOf(first);
  return { vcpus: vcpuCount, memoryInGb: memory };
}

const secretReference = /\{\{\s*RUNPOD_SECRET_([A-Za-z0-9_.\-/]+)\s*\}\}/g;

/** Read access to the resources for the job path. */
export type EndpointLookup = ReturnType<typeof createEndpointLookup>;

export function createEndpointLookup(deps: {
  endpoints: EndpointTable;
  templates: TemplateTable;
  secrets: Pick<Secrets, "valueOf">;
  registryAuths: Pick<RegistryAuths, "credentialsOf">;
  volumes: Pick<Volumes, "list">;
  releases: Pick<Releases, "rolledBack">;
  stock: Pick<Stock, "lackOfStock">;
}) {
  const { endpoints, templates, secrets, registryAuths, volumes, releases, stock } = deps;
  /** The variables of an endpoint's workers, with unresolved references to secrets. */
  const variablesOf = (endpoint: EndpointRow): Record<string, string> => ({
    ...templates.get(endpoint.templateId).env,
    ...endpoint.env,
  });
  return {
    /** Returns the endpoint, mostly from memory; undefined if it is unknown or deleted. */
    get: endpoints.committed,
    all: endpoints.list,
    /** Versions rolled back by the endpoint's newest version; none if its content is new. */
    rolledBack: releases.rolledBack,
    /** The lack of stock that prevents the start of workers; undefined if there is stock. */
    lackOfStock: (id: string): string | undefined => stock.lackOfStock(endpoints.get(id)),
    volumeIds: (): Set<string> => new Set(volumes.list().map(({ id }) => id)),
    /** Images used by endpoints. */
    images: (): Set<string> => new Set(endpoints.list().map(({ templateId }) => templates.get(templateId).imageName)),
    /** Current values of the secrets in the variables of an endpoint's workers. */
    secretValues(id: string): string[] {
      const endpoint = endpoints.committed(id);
      const references = Object.values(endpoint ? variablesOf(endpoint) : {}).flatMap((text) => [
        ...text.matchAll(secretReference),
      ]);
      return references.flatMap(([, name = ""]) => secrets.valueOf(name) ?? []);
    },
    /**
     * Returns the start parameters of an endpoint's worker, with the current secret values. Throws a ServiceError that names the first
     * reference without a secret.
     */
    workerEnvironment(id: string): WorkerEnvironment {
      const endpoint = endpoints.committed(id);
      if (!endpoint) throw notFound("endpoint", id);
      const template = templates.get(endpoint.templateId);
      const secretValues = new Set<string>();
      const withSecrets = (variable: string, text: string): string =>
        text.replace(secretReference, (_match, name: string) => {
          const value = secrets.valueOf(name);
          if (value === undefined) {
            throw new ServiceError(
              "invalid",
              `env.${variable} of endpoint "${endpoint.name}" refers to the secret "${name}", which does not exist: create the secret or remove the reference`,
            );
          }
          secretValues.add(value);
          return value;
        });
      // Node's error would contain the value, which may be a secret.
      const check = (what: string, ...texts: string[]): void => {
        if (!texts.some((text) => text.includes("\0"))) return;
        const fault = `${what} of endpoint "${endpoint.name}" contains a null character, which processes cannot have; remove it`;
        throw new ServiceError("invalid", fault);
      };
      const env = Object.entries(variablesOf(endpoint)).map(([name, text]) => {
        const value = withSecrets(name, text);
        check(`env.${name.replaceAll("\0", "\\u0000")}`, name, value);
        return [name, value] as const;
      });
      const start = startCommandOf(template.dockerArgs);
      const dockerArgs = start ? commandLineOf(start.cmd) : template.dockerArgs;
      check("dockerArgs", dockerArgs);
      const cpu = cpuOf(endpoint);
      const auth = template.containerRegistryAuthId;
      const volumeId = endpoint.networkVolumeId ?? endpoint.networkVolumeIds[0];
      const volume = volumes.list().find(({ id: candidate }) => candidate === volumeId);
      return {
        image: template.imageName,
        dockerArgs,
        env: Object.fromEntries(env),
        secretValues: [...secretValues],
        container: {
          entrypoint: start?.entrypoint ?? [],
          registryAuth: auth === undefined ? undefined : registryAuths.credentialsOf(auth),
          diskInGb: template.containerDiskInGb,
          volumeId,
          volumeSizeInGb: volume?.size ?? 0,
          mountPaths: [
            ...new Set([serverlessMountPath, ...(template.volumeMountPath ? [template.volumeMountPath] : [])]),
          ],
          gpus: cpu ? 0 : endpoint.gpuCount,
          gpuTypeIds: cpu ? [] : endpoint.gpuTypeIds,
          dataCenterIds: volume ? [volume.dataCenterId] : endpoint.dataCenterIds,
          cpu,
        },
      };
    },
  };
}
