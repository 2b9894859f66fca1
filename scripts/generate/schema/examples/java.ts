import { indent, pascalCase, quote } from "../../../../provider/cli/import/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const step = "    ";
const functionsClass = "ServerlesscomputeFunctions";

type Reference = Extract<TypedValue, { type: "reference" }>;

function valueText(value: TypedValue): string {
  switch (value.type) {
    case "text":
      return quote(value.text);
    case "number":
      return value.whole || !Number.isInteger(value.value) ? String(value.value) : `${value.value}.0`;
    case "flag":
      return String(value.value);
    case "configSecret":
      return `config.requireSecret(${quote(value.key)})`;
    case "reference":
      return value.step.isLookUp
        ? `${value.step.variable}.applyValue(found -> found.${getters(value.property)})`
        : `${value.step.variable}.${getters(value.property)}`;
    case "list":
      return container(value.of === "any" ? "List.<Object>of" : "List.of", value.items, valueText);
    case "map": {
      const of = value.of === "any" ? "Map.<String, Object>of" : "Map.of";
      const values = value.entries.map(([, one]) => one);
      const keys = value.entries.map(([key]) => quote(key));
      return container(of, values, (one, index) => `${keys[index]}, ${valueText(one)}`);
    }
    case "object":
      return builder(`${value.typeName}Args`, value.entries);
  }
}

const getters = (property: string[]): string => property.map((name) => `${name}()`).join(".");

/** A list or map. If it contains an output, it is created in the output's callback. */
function container(of: string, values: TypedValue[], text: (value: TypedValue, index: number) => string): string {
  const later = values.filter((one): one is Reference => one.type === "reference");
  const [first] = later;
  if (!first) return `${of}(${values.map(text).join(", ")})`;
  if (later.length > 1) throw new Error("an example in Java can have one reference in a list or a map");
  const { isLookUp, variable } = first.step;
  // The parameter of a lambda is rendered as a resource named after the last property.
  const name = isLookUp ? "found" : (first.property.at(-1) ?? "value");
  const inner = isLookUp ? `found.${getters(first.property)}` : name;
  const parts = values.map((one, index) =>
    one === first ? text(one, index).replace(valueText(one), inner) : text(one, index),
  );
  const source = isLookUp ? variable : valueText(first);
  return `${source}.applyValue(${name} -> ${of}(${parts.join(", ")}))`;
}

const builder = (type: string, entries: Entry[]): string =>
  `${type}.builder()\n${indent([...entries.map(([name, value]) => `.${name}(${valueText(value)})`), ".build()"].join("\n"), step)}`;

function statement({ variable, member, isLookUp, isRead, args }: TypedStep): string {
  const call = isLookUp
    ? `${functionsClass}.${member}(${builder(`${pascalCase(member)}Args`, args)})`
    : `new ${member}(${quote(variable)}, ${builder(`${member}Args`, args)})`;
  return `${isRead ? `var ${variable} = ` : ""}${call};`;
}

/** The nested types used by values. */
const nestedTypes = (value: TypedValue): string[] => {
  if (value.type === "object")
    return [`${value.typeName}Args`, ...value.entries.flatMap(([, one]) => nestedTypes(one))];
  if (value.type === "map") return value.entries.flatMap(([, one]) => nestedTypes(one));
  return value.type === "list" ? value.items.flatMap(nestedTypes) : [];
};

function imports(steps: TypedStep[], text: string, sdk: string): string[] {
  const classes = steps.flatMap(({ member, isLookUp, args }) => [
    ...(isLookUp
      ? [`${sdk}.${functionsClass}`, `${sdk}.inputs.${pascalCase(member)}Args`]
      : [`${sdk}.${member}`, `${sdk}.${member}Args`]),
    ...args.flatMap(([, value]) => nestedTypes(value)).map((type) => `${sdk}.inputs.${type}`),
  ]);
  const java = ["List", "Map"].filter((name) => text.includes(`${name}.`)).map((name) => `java.util.${name}`);
  return [...new Set(["com.pulumi.Pulumi", ...classes, ...java])].sort();
}

/** A program in Java, over the SDK in the package `sdk`. */
export function javaText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const body = [
    ...(configSecrets.length > 0 ? ["var config = ctx.config();"] : []),
    ...steps.map(statement),
    ...outputs.map(([name, value]) => `ctx.export(${quote(name)}, ${valueText(value)});`),
  ].join("\n");
  return `${imports(steps, body, sdk)
    .map((name) => `import ${name};`)
    .join("\n")}

public class App {
    public static void main(String[] args) {
        Pulumi.run(ctx -> {
${indent(body, step.repeat(3))}
        });
    }
}`;
}
