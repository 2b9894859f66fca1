import { ServiceError } from "../errors";
import type { EndpointRow } from "../store/endpoints";
import type { SecretStore } from "../store/secrets";
import type { TemplateRow } from "../store/templates";

/** What a worker is started with. */
export interface WorkerEnvironment {
  image: string;
  /** Start arguments of the container as the template has them, not split. */
  dockerArgs: string;
  /** The template's environment with the endpoint's over it, secret references replaced. */
  env: Record<string, string>;
  /** Secret values inside `env`: no log may show them. */
  secretValues: string[];
}

const reference = /\{\{\s*RUNPOD_SECRET_([A-Za-z0-9_.-]+)\s*\}\}/g;

/** What a worker of an endpoint is started with: the endpoint's variables over the template's, secrets put in. */
export function workerEnvironment(
  endpoint: EndpointRow,
  template: TemplateRow,
  secrets: Pick<SecretStore, "valueOf">,
): WorkerEnvironment {
  const secretValues = new Set<string>();
  const resolve = (variable: string, text: string): string =>
    text.replace(reference, (_match, name: string) => {
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
  const env = Object.entries({ ...template.env, ...endpoint.env }).map(
    ([name, text]) => [name, resolve(name, text)] as const,
  );
  return {
    image: template.imageName,
    dockerArgs: template.dockerArgs,
    env: Object.fromEntries(env),
    secretValues: [...secretValues],
  };
}
