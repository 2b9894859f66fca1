/** A path in Pulumi's property path syntax: `env.MODEL`, `env["a.b"]`, `gpuTypeIds[0]`. Only a number is an index of a list. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (/^[A-Za-z_$][\w$]*$/.test(part)) return index === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join("");
}
