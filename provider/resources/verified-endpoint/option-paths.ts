import { suggest } from "serverless-compute-api/spelling";
import { propertyNames } from "../../generated/property-names";

type Part = "template" | "endpoint";

const outputs: readonly string[] = ["url", "version", "revision"];
const withoutOutputs = (names: readonly string[]): string[] => names.filter((name) => !outputs.includes(name));
/** Inputs of the component's resources. Their shapes would slow down the start of every program. */
const inputs: Record<Part, string[]> = {
  template: withoutOutputs(propertyNames.Template),
  endpoint: withoutOutputs(propertyNames.ServerlessEndpoint),
};

/** Paths of a resource option of the component that belong to one of its resources; `verify` is an input of the endpoint. */
export const pathsOf = (part: Part, paths: readonly string[] = []): string[] =>
  paths.flatMap((path) => {
    if (part === "endpoint" && /^verify([.[]|$)/.test(path)) return [path];
    return path.startsWith(`${part}.`) ? [path.slice(part.length + 1)] : [];
  });

/** Correction of a path that names no input of the component's resources; undefined for other paths. */
function correctionOf(path: string): string | undefined {
  const part = pathsOf("template", [path]).length > 0 ? "template" : "endpoint";
  const [inputPath] = pathsOf(part, [path]);
  if (inputPath === undefined) return 'begin it with "endpoint.", "template." or "verify"';
  const [name = ""] = /[^.["\]]+/.exec(inputPath) ?? [];
  if (name === "*" || inputs[part].includes(name)) return undefined;
  // Programs in Python may write the name in snake case.
  const suggestion = suggest(name.replaceAll("_", ""), inputs[part]);
  return suggestion
    ? `did you mean "${part}.${inputPath.replace(name, suggestion)}"?`
    : `the ${part} has no input "${name}"`;
}

/** Warnings about paths of resource options that name no input of the component's resources. */
export const pathWarnings = (options: Record<string, readonly string[] | undefined>): string[] =>
  Object.entries(options).flatMap(([option, paths = []]) =>
    paths.flatMap((path) => {
      const correction = correctionOf(path);
      return correction ? [`${option}: "${path}" has no effect; ${correction}`] : [];
    }),
  );
