import { indent, quote } from "../../../../provider/cli/import/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

/** Texts that do not require quotes in YAML. */
const plain = /^[A-Za-z][\w./-]*(?::[\w./-]+)?(?: [\w./-]+)*$/;
const otherThanText = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

function scalar(value: TypedValue): string | undefined {
  switch (value.type) {
    case "text":
      return plain.test(value.text) && !otherThanText.test(value.text) ? value.text : quote(value.text);
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

function lines(value: TypedValue): string {
  if (value.type === "list") return value.items.map((one) => `- ${indent(lines(one), "  ").trimStart()}`).join("\n");
  if (value.type === "map" || value.type === "object") return mapping(value.entries);
  return scalar(value) ?? "";
}

const mapping = (entries: Entry[]): string =>
  entries
    .map(([key, value]) => {
      const text = scalar(value);
      return text === undefined ? nested(key, lines(value)) : `${key}: ${text}`;
    })
    .join("\n");

const nested = (key: string, text: string): string => `${key}:\n${indent(text, "  ")}`;

const resource = ({ variable, member, args }: TypedStep): string =>
  nested(variable, `type: serverless-compute:${member}\n${nested("properties", mapping(args))}`);

const lookUp = ({ variable, member, args }: TypedStep): string =>
  nested(
    variable,
    nested("fn::invoke", `function: serverless-compute:${member}\n${nested("arguments", mapping(args))}`),
  );

const section = (name: string, parts: string[]): string[] => (parts.length > 0 ? [nested(name, parts.join("\n"))] : []);

/**
 * A program in YAML: the part of Pulumi.yaml after the project's name and runtime. The stack's config is under the older of two
 * keys, `configuration`, because every host supports it, and the tested host supports no other.
 */
export function yamlText({ steps, configSecrets, outputs }: TypedProgram): string {
  return [
    ...section(
      "configuration",
      configSecrets.map((key) => nested(key, "type: string\nsecret: true")),
    ),
    ...section("variables", steps.filter(({ isLookUp }) => isLookUp).map(lookUp)),
    ...section("resources", steps.filter(({ isLookUp }) => !isLookUp).map(resource)),
    ...section(
      "outputs",
      outputs.map(([name, value]) => `${name}: ${scalar(value)}`),
    ),
  ].join("\n");
}
