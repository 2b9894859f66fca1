import { messageOf } from "../engine/error-text";
import type { PropertyMap } from "../engine/values";
import type { Context, Failure, ResourceOperations, Secrets } from "./contract";
import type { ProviderProcess } from "./process";
import { isSecretAt } from "./properties/secret-paths";

/** Runs the part of a check that calls the service. */
export type RunCheck = <Result>(action: (context: Context) => Promise<Result>) => Promise<Result>;

/**
 * Findings of a kind's operations about the checked inputs of a resource; none if the preflight is off. Without a connection the first
 * resource gets a warning. Findings about secret properties are omitted, because they contain values.
 */
export async function findingsOf(
  { preflight }: ResourceOperations,
  providerProcess: ProviderProcess,
  { urn, olds, news, paths }: { urn: string; olds: PropertyMap; news: PropertyMap } & Pick<Secrets, "paths">,
  run: RunCheck,
): Promise<Failure[]> {
  const { configuration, warned } = providerProcess.deployment();
  if (!preflight || urn === "" || configuration.preflight() === "off") return [];
  try {
    providerProcess.connect();
  } catch (error) {
    if (!warned.has("preflight"))
      void providerProcess.log.warning(urn, `preflight is not possible: ${messageOf(error)}`);
    warned.add("preflight");
    return [];
  }
  const findings = await run((context) => preflight(olds.properties, news.properties, context));
  return findings.filter(({ path }) => !isSecretAt([path], paths));
}
