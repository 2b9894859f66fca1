/** Paths of a resource option of the component that name inputs of one of its resources; `verify` is an input of the endpoint. */
export const pathsOf = (part: "template" | "endpoint", paths: readonly string[] = []): string[] =>
  paths.flatMap((path) => {
    if (part === "endpoint" && /^verify(?![^.[])/.test(path)) return [path];
    return path.startsWith(`${part}.`) ? [path.slice(part.length + 1)] : [];
  });

/** Warnings about paths of resource options that name no input of the component's resources. */
export const pathWarnings = (options: Record<string, readonly string[] | undefined>): string[] =>
  Object.entries(options).flatMap(([option, paths = []]) =>
    paths
      .filter((path) => [...pathsOf("template", [path]), ...pathsOf("endpoint", [path])].length === 0)
      .map((path) => `${option}: "${path}" has no effect; begin it with "endpoint.", "template." or "verify"`),
  );
