import * as pulumi from "@pulumi/pulumi";
import { propertyNames } from "./property-names";
import { stubText, typeToken } from "./stub";

/** The paths below `value` whose values the program made secret. */
async function secretPaths(value: unknown, path: string[]): Promise<string[][]> {
  if (pulumi.Output.isInstance(value)) return (await pulumi.isSecret(value)) ? [path] : [];
  if (value instanceof Promise) return secretPaths(await value, path);
  if (typeof value !== "object" || value === null || pulumi.Resource.isInstance(value)) return [];
  const below = Object.entries(value).map(([key, one]) => secretPaths(one, [...path, key]));
  return (await Promise.all(below)).flat();
}

/**
 * The URN that the engine will give a resource, as a promise: as an output it would make the parent a dependency.
 * When the parent fails there is none: waiting for it would hang the program, which the SDK ends with the parent's error.
 */
async function ownUrn(kind: string, name: string, opts: pulumi.CustomResourceOptions): Promise<string | undefined> {
  const urn = pulumi.createUrn(name, typeToken(kind), opts.parent);
  const settled: Record<string, unknown> = await pulumi.runtime
    .serializeProperties("own URN", { urn })
    .catch(() => ({}));
  return typeof settled.urn === "string" ? settled.urn : undefined;
}

/**
 * What the class of a kind registers: the user's inputs, every property it wants to read back (undefined here), and the
 * hidden ones that the provider process needs, whose names start with two underscores.
 */
export function registration(
  kind: keyof typeof propertyNames,
  name: string,
  args: object,
  opts: pulumi.CustomResourceOptions = {},
): pulumi.Inputs {
  for (const reserved of ["id", "urn"]) {
    // The SDK would drop it without a word.
    if (reserved in args)
      throw new pulumi.ResourceError(`${kind} "${name}": "${reserved}" is not an input`, opts.parent);
  }
  if (opts.id === "") {
    // The SDK would take it for no id and make a new resource.
    throw new pulumi.ResourceError(`${kind} "${name}": the id of the resource to read is empty`, opts.parent);
  }
  const secrets = secretPaths(args, []).then((paths) => (paths.length > 0 ? paths : undefined));
  return {
    ...Object.fromEntries(propertyNames[kind].map((key) => [key, undefined])),
    ...args,
    __provider: stubText(kind),
    __urn: ownUrn(kind, name, opts),
    __timeouts: opts.customTimeouts,
    __replaceOnChanges: opts.replaceOnChanges,
    __existing: opts.id === undefined ? undefined : true,
    // A value that fails to arrive fails the registration itself, with its own message.
    __secrets: secrets.catch(() => undefined),
  };
}
