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
  // Node would quote the value, which may be a secret.
  const check = (what: string, ...texts: string[]): void => {
    if (!texts.some((text) => text.includes("\0"))) return;
    const fault = `${what} of endpoint "${endpoint.name}" holds a null character, which no process can have: remove it`;
    throw new ServiceError("invalid", fault);
  };
  const env = Object.entries({ ...template.env, ...endpoint.env }).map(([name, text]) => {
    const value = resolve(name, text);
    check(`env.${name.replaceAll("\0", "\\u0000")}`, name, value);
    return [name, value] as const;
  });
  check("dockerArgs", template.dockerArgs);
  return {
    image: template.imageName,
    dockerArgs: template.dockerArgs,
    env: Object.fromEntries(env),
    secretValues: [...secretValues],
  };
}
