import { notFound, ServiceError } from "../errors";
import { instanceOf } from "./catalog";
import type { EndpointRow, EndpointTable } from "./endpoints";
import type { RegistryAuths, RegistryCredentials } from "./registry-auths";
import type { Releases } from "./releases";
import type { Secrets } from "./secrets";
import { commandLineOf, startCommandOf, type TemplateTable } from "./templates";
import type { Volumes } from "./volumes";

/** What a worker is started with. */
export interface WorkerEnvironment {
  image: string;
  /** Start arguments of the container as one command line, not split. */
  dockerArgs: string;
  /** The template's environment with the endpoint's over it, secret references replaced. */
  env: Record<string, string>;
  /** Secret values inside `env`: no log may show them. */
  secretValues: string[];
  container: ContainerNeeds;
}

/** What of template and endpoint matters to a container only. */
export interface ContainerNeeds {
  /** Replaces the image's own entrypoint; empty to keep that. */
  entrypoint: string[];
  /** The credentials to pull the image with. */
  registryAuth: RegistryCredentials | undefined;
  diskInGb: number;
  /** The network volume, which is at each of `mountPaths`; undefined when the endpoint has none. */
  volumeId: string | undefined;
  mountPaths: string[];
  /** GPUs of a GPU endpoint; 0 for one of CPUs. */
  gpus: number;
  /** What a CPU endpoint's worker may use; undefined for one of GPUs, which gets what there is. */
  cpu: { vcpus: number; memoryInGb: number } | undefined;
}

/** Where the hosted service mounts the volume of a serverless worker. */
const serverlessMountPath = "/runpod-volume";

/** The first instance of a CPU endpoint. */
function cpuOf({ instanceIds: [first] }: EndpointRow): ContainerNeeds["cpu"] {
  if (first === undefined) return undefined;
  const { vcpuCount, memory } = instanceOf(first);
  return { vcpus: vcpuCount, memoryInGb: memory };
}

const secretReference = /\{\{\s*RUNPOD_SECRET_([A-Za-z0-9_.\-/]+)\s*\}\}/g;

/** What the job path reads of the resources. */
export type EndpointLookup = ReturnType<typeof createEndpointLookup>;

export function createEndpointLookup(deps: {
  endpoints: EndpointTable;
  templates: TemplateTable;
  secrets: Pick<Secrets, "valueOf">;
  registryAuths: Pick<RegistryAuths, "credentialsOf">;
  volumes: Pick<Volumes, "list">;
  releases: Pick<Releases, "setBack">;
}) {
  const { endpoints, templates, secrets, registryAuths, volumes, releases } = deps;
  return {
    /** The endpoint, or undefined when it is unknown or deleted. Cheap: mostly from memory. */
    get: endpoints.committed,
    all: endpoints.list,
    /** The versions that the endpoint's newest one sets back; none when that runs something new. */
    setBack: releases.setBack,
    /** Ids of the volumes that there are. */
    volumeIds: (): Set<string> => new Set(volumes.list().map(({ id }) => id)),
    /** Images that endpoints use. */
    images: (): Set<string> =>
      new Set(endpoints.list().flatMap(({ templateId }) => templates.find(templateId)?.imageName ?? [])),
    /**
     * What a worker of an endpoint is started with; read at each start, so that it has the secrets' values of that moment.
     * Throws a ServiceError that names the first reference without a secret.
     */
    workerEnvironment(id: string): WorkerEnvironment {
      const endpoint = endpoints.committed(id);
      const template = endpoint && templates.find(endpoint.templateId);
      if (!template) throw notFound("endpoint", id);
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
      // Node would quote the value, which may be a secret.
      const check = (what: string, ...texts: string[]): void => {
        if (!texts.some((text) => text.includes("\0"))) return;
        const fault = `${what} of endpoint "${endpoint.name}" holds a null character, which no process can have: remove it`;
        throw new ServiceError("invalid", fault);
      };
      const env = Object.entries({ ...template.env, ...endpoint.env }).map(([name, text]) => {
        const value = withSecrets(name, text);
        check(`env.${name.replaceAll("\0", "\\u0000")}`, name, value);
        return [name, value] as const;
      });
      const start = startCommandOf(template.dockerArgs);
      const dockerArgs = start ? commandLineOf(start.cmd) : template.dockerArgs;
      check("dockerArgs", dockerArgs);
      const cpu = cpuOf(endpoint);
      const auth = template.containerRegistryAuthId;
      return {
        image: template.imageName,
        dockerArgs,
        env: Object.fromEntries(env),
        secretValues: [...secretValues],
        container: {
          entrypoint: start?.entrypoint ?? template.dockerEntrypoint,
          registryAuth: auth === undefined ? undefined : registryAuths.credentialsOf(auth),
          diskInGb: template.containerDiskInGb,
          volumeId: endpoint.networkVolumeId ?? endpoint.networkVolumeIds[0],
          mountPaths: [
            ...new Set([serverlessMountPath, ...(template.volumeMountPath ? [template.volumeMountPath] : [])]),
          ],
          gpus: cpu ? 0 : endpoint.gpuCount,
          cpu,
        },
      };
    },
  };
}
