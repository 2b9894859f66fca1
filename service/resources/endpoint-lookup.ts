import { notFound, ServiceError } from "../errors";
import type { EndpointTable } from "./endpoints";
import type { Secrets } from "./secrets";
import { commandLineOf, startCommandOf, type TemplateTable } from "./templates";

/** What a worker is started with. */
export interface WorkerEnvironment {
  image: string;
  /** Start arguments of the container as one command line, not split. */
  dockerArgs: string;
  /** The template's environment with the endpoint's over it, secret references replaced. */
  env: Record<string, string>;
  /** Secret values inside `env`: no log may show them. */
  secretValues: string[];
}

const secretReference = /\{\{\s*RUNPOD_SECRET_([A-Za-z0-9_.-]+)\s*\}\}/g;

/** What the job path reads of the resources. */
export type EndpointLookup = ReturnType<typeof createEndpointLookup>;

export function createEndpointLookup(deps: {
  endpoints: EndpointTable;
  templates: TemplateTable;
  secrets: Pick<Secrets, "valueOf">;
}) {
  const { endpoints, templates, secrets } = deps;
  return {
    /** The endpoint, or undefined when it is unknown or deleted. Cheap: mostly from memory. */
    get: endpoints.committed,
    all: endpoints.list,
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
      return {
        image: template.imageName,
        dockerArgs,
        env: Object.fromEntries(env),
        secretValues: [...secretValues],
      };
    },
  };
}
