import * as pulumi from "@pulumi/pulumi";
import { jobApiRoot } from "serverless-compute-api/address";
import { secretReference } from "serverless-compute-api/shapes";
import { revisionOf, type TemplateContent } from "../lifecycle/template-revision";
import { programConfig } from "../program-config";
import { resolveServerlessUrl } from "../settings";
import { typeToken } from "./stub";

/** `told` where the engine knows it, else `other`. */
function orElse<Value>(told: pulumi.Output<Value>, other: pulumi.Output<Value>): pulumi.Output<Value> {
  // The SDK does not declare it, but its outputs have had it since they could be unknown.
  const isKnown = "isKnown" in told ? told.isKnown : undefined;
  if (!(isKnown instanceof Promise)) return told;
  return pulumi.output(isKnown.then(Boolean)).apply((known) => (known ? told : other));
}

/**
 * An output that the class can tell before the provider does. In the preview of an update the engine knows only the id and
 * what equals an input; everything made of the others would show as changed. What the engine does tell goes before, and a
 * deployment uses nothing else.
 */
function foreseen(told: pulumi.Output<string>, derive: () => pulumi.Output<string> | undefined): pulumi.Output<string> {
  // It is as secret as the inputs that it is made of, and so is the provider's own answer (`secretWith` in the shapes).
  const derived = pulumi.runtime.isDryRun() ? derive() : undefined;
  return derived ? orElse(told, derived) : told;
}

/** The `url` of an endpoint: its id below the job API's address, unless another provider may have addresses of its own. */
export function foreseenUrl(endpoint: pulumi.CustomResource & { url: pulumi.Output<string> }): pulumi.Output<string> {
  return foreseen(endpoint.url, () => {
    if (endpoint.getProvider(typeToken("ServerlessEndpoint"))) return undefined;
    const serverlessUrl = resolveServerlessUrl(programConfig);
    return serverlessUrl === undefined ? undefined : endpoint.id.apply((id) => jobApiRoot(serverlessUrl, id));
  });
}

/** The `reference` of a secret, which its name alone decides. */
export function foreseenReference(secret: Record<"name" | "reference", pulumi.Output<string>>): pulumi.Output<string> {
  return foreseen(secret.reference, () => secret.name.apply(secretReference));
}

/** The `revision` of a template, which its inputs decide; `args` are those that the program gave. */
export function foreseenRevision(
  template: { [Key in keyof TemplateContent]-?: pulumi.Output<TemplateContent[Key]> } & {
    revision: pulumi.Output<string>;
  },
  args: { containerRegistryAuthId?: unknown },
): pulumi.Output<string> {
  const { imageName, dockerArgs, env, ports, containerDiskInGb, containerRegistryAuthId: credentials } = template;
  return foreseen(template.revision, () => {
    // In a preview the engine tells nothing of an input that was left out and has no default.
    const leftOut = args.containerRegistryAuthId === undefined;
    const all = [imageName, dockerArgs, env, ports, containerDiskInGb] as const;
    const parts = pulumi.all([...all, leftOut ? orElse(credentials, pulumi.output(undefined)) : credentials]);
    return parts.apply(([imageName, dockerArgs, env, ports, containerDiskInGb, containerRegistryAuthId]) =>
      revisionOf({ imageName, dockerArgs, env, ports, containerDiskInGb, containerRegistryAuthId }),
    );
  });
}
