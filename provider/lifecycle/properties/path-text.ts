import type { Path } from "../contract";

/** A path in Pulumi's property path syntax: `env.MODEL`, `env["a.b"]`, `gpuTypeIds[0]`. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (/^\d+$/.test(part) && index > 0) return `[${part}]`;
      if (/^[A-Za-z_$][\w$]*$/.test(part)) return index === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join("");
}
