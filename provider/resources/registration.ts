import * as pulumi from "@pulumi/pulumi";
import { propertyNames } from "../generated/property-names";
import { warnOfPlainKey } from "../settings/program-config";

/**
 * The program text that a resource keeps in state: it leads to the code of the installed package and holds none itself.
 * Refresh and destroy run the text of the state that is there, so every text that was ever shipped has to work for ever:
 * never change it. It is one constant per kind, so an upgrade of the package makes no difference.
 */
export const stubText = (kind: string): string =>
  `exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("${kind}")`;

/** Type token of a resource of the dynamic way. It lands in every URN: never change it. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/serverless:${kind}`;

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

/** Registers the time-outs that a resource's own transforms set; those of components and of the stack run later. */
const recordTimeouts: pulumi.ResourceTransform = ({ props, opts }) => {
  const given = Object.entries(opts.customTimeouts ?? {}).filter(([, time]) => time !== "");
  return { props: { ...props, __timeouts: given.length > 0 ? Object.fromEntries(given) : undefined }, opts };
};

/**
 * Arguments of a resource class for the SDK: the user's inputs, every output property (undefined here), and the internal inputs
 * of the provider process, whose names start with two underscores.
 */
export function registration(
  kind: keyof typeof propertyNames,
  name: string,
  args: object,
  opts: pulumi.CustomResourceOptions = {},
): [type: string, name: string, inputs: pulumi.Inputs, opts: pulumi.CustomResourceOptions] {
  for (const reserved of ["id", "urn"]) {
    // The SDK would drop it without a word.
    if (reserved in args)
      throw new pulumi.ResourceError(`${kind} "${name}": "${reserved}" is not an input`, opts.parent);
  }
  if (opts.id === "") {
    // The SDK would take it for no id and make a new resource.
    throw new pulumi.ResourceError(`${kind} "${name}": the id of the resource to read is empty`, opts.parent);
  }
  warnOfPlainKey();
  const secrets = secretPaths(args, []).then((paths) => (paths.length > 0 ? paths : undefined));
  const inputs = {
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
  const { transforms = [] } = opts;
  const own = transforms.length > 0 ? { ...opts, transforms: [...transforms, recordTimeouts] } : opts;
  return [typeToken(kind), name, inputs, own];
}

/**
 * Takes stacks off the errors that are made until the returned function is called: around nothing but a constructor's
 * `super()`. In it the SDK makes an error for each property, to show it if the property fails, and reads its stack at
 * once, which is a large part of the time that a program with many resources takes.
 */
export function pauseStacks(): () => void {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return () => {
    Error.stackTraceLimit = before;
  };
}

/** Returns `actual` if it is known, else `other`. */
export function orElse<Value>(actual: pulumi.Output<Value>, other: pulumi.Output<Value>): pulumi.Output<Value> {
  // The SDK does not declare it, but its outputs have had it since they could be unknown.
  const isKnown = "isKnown" in actual ? actual.isKnown : undefined;
  if (!(isKnown instanceof Promise)) return actual;
  return pulumi.output(isKnown.then(Boolean)).apply((known) => (known ? actual : other));
}

/**
 * An output that the class computes in previews. In the preview of an update, only the id and outputs equal to an input are
 * known; everything derived from other outputs would show as changed. Known outputs take precedence, and a deployment uses only
 * those.
 */
export function previewed(
  actual: pulumi.Output<string>,
  derive: () => pulumi.Output<string> | undefined,
): pulumi.Output<string> {
  // It is as secret as the inputs that it is made of, and so is the provider's own response (`secretWith` in the shapes).
  const derived = pulumi.runtime.isDryRun() ? derive() : undefined;
  return derived ? orElse(actual, derived) : actual;
}
