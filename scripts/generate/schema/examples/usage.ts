import type { SdkNames } from "../../../publisher.mjs";
import { csharpText } from "./csharp";
import type { Example } from "./example";
import { goText } from "./go";
import { javaText } from "./java";
import { pythonText } from "./python";
import { type TypedProgram, typedProgram, type Vocabulary } from "./typed-program";
import { typescriptText } from "./typescript";
import { yamlText } from "./yaml";

/** Renderers of examples, by the language names of Pulumi's documentation. */
const renderers = {
  typescript: (program, names) => typescriptText(program, names.nodejs),
  python: (program, names) => pythonText(program, names.python),
  go: (program, names) => goText(program, names.go),
  csharp: (program, names) => csharpText(program, names.csharp),
  java: (program, names) => javaText(program, names.java),
  yaml: yamlText,
} as const satisfies Record<string, (program: TypedProgram, names: SdkNames) => string>;

function section(example: Example, vocabulary: Vocabulary, names: SdkNames): string {
  const program = typedProgram(example, vocabulary);
  const fences = Object.entries(renderers).map(([name, render]) => `\`\`\`${name}\n${render(program, names)}\n\`\`\``);
  return `{{% example %}}\n### ${example.title}\n\n${fences.join("\n")}\n{{% /example %}}`;
}

/** The examples of a member in the format that Pulumi's documentation and SDKs expect at the end of a description. */
export const usage = (examples: readonly Example[], vocabulary: Vocabulary, names: SdkNames): string =>
  `\n\n{{% examples %}}\n## Example Usage\n\n${examples.map((example) => section(example, vocabulary, names)).join("\n\n")}\n\n{{% /examples %}}`;
