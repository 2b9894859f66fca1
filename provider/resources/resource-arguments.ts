import * as pulumi from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import { isSecret } from "../engine/engine-properties";
import { propertyNames } from "../generated/property-names";
import { checkProgramConfig } from "../settings/program-config";

/**
 * Returns the program text that a resource stores in the state; it only loads the code of the installed package.
 * Refresh and destroy run the text in the state, so every released text must continue to work: never change it. The text is
 * constant for each kind, so an upgrade of the package causes no diff.
 */
const providerReference = (kind: string): string =>
  `exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("${kind}")`;

/** Type token of a resource of the dynamic provider. It is part of every URN: never change it. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/serverless:${kind}`;

/** Returns the paths of the values below `value` that the program marked as secret. */
async function secretPaths(value: unknown, path: string[]): Promise<string[][]> {
  if (pulumi.Output.isInstance(value)) return (await pulumi.isSecret(value)) ? [path] : [];
  if (value instanceof Promise) return secretPaths(await value, path);
  // The SDK passes secrets to transforms in the engine's form.
  if (isSecret(value)) return [path];
  if (typeof value !== "object" || value === null || pulumi.Resource.isInstance(value)) return [];
  const nestedPaths = Object.entries(value).map(([key, item]) => secretPaths(item, [...path, key]));
  return (await Promise.all(nestedPaths)).flat();
}

/**
 * Returns the URN that the engine assigns to a resource. The result is a promise, because an output would make the parent a
 * dependency. It resolves to undefined if the parent fails: waiting for the URN would hang the program, which otherwise ends with
 * the parent's error.
 */
async function resourceUrn(
  kind: string,
  name: string,
  opts: pulumi.CustomResourceOptions,
): Promise<string | undefined> {
  const urn = pulumi.createUrn(name, typeToken(kind), opts.parent);
  const resolved: Record<string, unknown> = await pulumi.runtime
    .serializeProperties("own URN", { urn })
    .catch(() => ({}));
  return typeof resolved.urn === "string" ? resolved.urn : undefined;
}

/** Returns the paths of the secrets in the inputs of a resource; undefined if it has none. */
const secretsOf = (inputs: object): Promise<string[][] | undefined> =>
  secretPaths(inputs, []).then((paths) => (paths.length > 0 ? paths : undefined));

/**
 * Records the options and secrets set by transformations and by a resource's own transforms; transforms of components and of the stack
 * run later.
 */
const recordTransformed: pulumi.ResourceTransform = async ({ props, opts }) => {
  const timeouts = Object.entries(opts.customTimeouts ?? {}).filter(([, time]) => time !== "");
  const __timeouts = timeouts.length > 0 ? Object.fromEntries(timeouts) : undefined;
  const __replaceOnChanges = opts.replaceOnChanges?.length ? opts.replaceOnChanges : undefined;
  return { props: { ...props, __timeouts, __replaceOnChanges, __secrets: await secretsOf(props) }, opts };
};

/** Returns true if the inputs of a resource may change before its registration. */
function isTransformed({ transforms = [], transformations = [], parent }: pulumi.CustomResourceOptions): boolean {
  if (transforms.length > 0) return true;
  // The SDK's mocks for unit tests reject transforms.
  if (pulumi.runtime.getMonitor() instanceof MockMonitor) return false;
  // A resource has the transformations of its parents and of the stack. The SDK does not declare the property.
  const owner = parent ?? pulumi.runtime.getStackResource();
  const inherited = owner && "__transformations" in owner ? owner.__transformations : [];
  return transformations.length > 0 || (Array.isArray(inherited) && inherited.length > 0);
}

/**
 * Arguments of a resource class for the SDK: the user's inputs, every output property (undefined here), and the internal inputs
 * of the provider process, whose names start with two underscores.
 */
export function resourceArguments(
  kind: keyof typeof propertyNames,
  name: string,
  args: object,
  opts: pulumi.CustomResourceOptions = {},
): [type: string, name: string, inputs: pulumi.Inputs, opts: pulumi.CustomResourceOptions] {
  // A program in JavaScript may omit the arguments. The check then names the required ones.
  const given = args ?? {};
  for (const reserved of ["id", "urn"]) {
    // The SDK would drop the input silently.
    if (reserved in given)
      throw new pulumi.ResourceError(`${kind} "${name}": "${reserved}" is not an input`, opts.parent);
  }
  if (opts.id === "") {
    // The SDK would treat an empty id as absent and create a new resource.
    throw new pulumi.ResourceError(`${kind} "${name}": the id of the resource to read is empty`, opts.parent);
  }
  if (opts.import !== undefined) {
    // The engine would fail without a reason.
    throw new pulumi.ResourceError(
      `${kind} "${name}": import requires the plugin, because Pulumi imports no dynamic resources; use the plugin, or adoptExisting`,
      opts.parent,
    );
  }
  checkProgramConfig();
  const inputs = {
    ...Object.fromEntries(propertyNames[kind].map((key) => [key, undefined])),
    ...given,
    __provider: providerReference(kind),
    __urn: resourceUrn(kind, name, opts),
    __timeouts: opts.customTimeouts,
    __replaceOnChanges: opts.replaceOnChanges,
    __existing: opts.id === undefined ? undefined : true,
    // A rejected value fails the resource itself, with its own error.
    __secrets: secretsOf(given).catch(() => undefined),
  };
  const options = isTransformed(opts) ? { ...opts, transforms: [...(opts.transforms ?? []), recordTransformed] } : opts;
  return [typeToken(kind), name, inputs, options];
}

/**
 * Disables stack traces of new errors until the returned function is called; use it only around a constructor's `super()`.
 * There, the SDK creates an error for each property, in case the property fails, and reads its stack immediately. This takes a
 * large part of the running time of a program with many resources.
 */
export function disableStackTraces(): () => void {
  const oldLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return () => {
    Error.stackTraceLimit = oldLimit;
  };
}

/** Returns `output` if it is known, else `fallback`. */
export function knownOr<Value>(output: pulumi.Output<Value>, fallback: pulumi.Output<Value>): pulumi.Output<Value> {
  // The SDK does not declare `isKnown`, but every version that supports unknown outputs has it.
  const isKnown = "isKnown" in output ? output.isKnown : undefined;
  if (!(isKnown instanceof Promise)) return output;
  return pulumi.output(isKnown.then(Boolean)).apply((isOutputKnown) => (isOutputKnown ? output : fallback));
}

/**
 * Returns an output that the class derives in previews. In the preview of an update, only the id and outputs equal to an input are
 * known, so values that depend on other outputs would appear as changed. A known output takes precedence, and a deployment never
 * uses the derived value.
 */
export function withPreviewValue(
  output: pulumi.Output<string>,
  derive: () => pulumi.Output<string> | undefined,
): pulumi.Output<string> {
  // The derived value is secret if its inputs are, like the output in the provider's response (`secretWith` in the shapes).
  const previewValue = pulumi.runtime.isDryRun() ? derive() : undefined;
  return previewValue ? knownOr(output, previewValue) : output;
}
