import { indent, quote } from "../../../../provider/cli/project/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

/** Texts that do not require quotes in YAML. */
const plainText = /^[A-Za-z][\w./-]*(?::[\w./-]+)?(?: [\w./-]+)*$/;
const ambiguousText = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

function scalarText(value: TypedValue): string | undefined {
  switch (value.type) {
    case "text":
      return plainText.test(value.text) && !ambiguousText.test(value.text) ? value.text : quote(value.text);
    case "number":
    case "flag":
      return String(value.value);
    case "configSecret":
      return `\${${value.key}}`;
    case "reference":
      return `\${${[value.step.variable, ...value.property].join(".")}}`;
    default:
      return undefined;
  }
}

function valueText(value: TypedValue): string {
  if (value.type === "list")
    return value.items.map((item) => `- ${indent(valueText(item), "  ").trimStart()}`).join("\n");
  if (value.type === "map" || value.type === "object") return mappingText(value.entries);
  return scalarText(value) ?? "";
}

const mappingText = (entries: Entry[]): string =>
  entries
    .map(([key, value]) => {
      const text = scalarText(value);
      return text === undefined ? nestedText(key, valueText(value)) : `${key}: ${text}`;
    })
    .join("\n");

const nestedText = (key: string, text: string): string => `${key}:\n${indent(text, "  ")}`;

const resourceText = ({ variable, member, args }: TypedStep): string =>
  nestedText(variable, `type: serverless-compute:${member}\n${nestedText("properties", mappingText(args))}`);

const lookupText = ({ variable, member, args }: TypedStep): string =>
  nestedText(
    variable,
    nestedText("fn::invoke", `function: serverless-compute:${member}\n${nestedText("arguments", mappingText(args))}`),
  );

const section = (name: string, parts: string[]): string[] =>
  parts.length > 0 ? [nestedText(name, parts.join("\n"))] : [];

/** A program in YAML: the part of Pulumi.yaml after the project's name and runtime. */
export function yamlText({ steps, configSecrets, outputs }: TypedProgram): string {
  return [
    ...section(
      "config",
      configSecrets.map((key) => nestedText(key, "type: string\nsecret: true")),
    ),
    ...section("variables", steps.filter(({ isLookup }) => isLookup).map(lookupText)),
    ...section("resources", steps.filter(({ isLookup }) => !isLookup).map(resourceText)),
    ...section(
      "outputs",
      outputs.map(([name, value]) => `${name}: ${scalarText(value)}`),
    ),
  ].join("\n");
}
