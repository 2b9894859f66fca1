import { indent, pascalCase, quote } from "../../../../provider/cli/project/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const indentation = "    ";
const functionsClass = "ServerlesscomputeFunctions";

type Reference = Extract<TypedValue, { type: "reference" }>;

function valueText(value: TypedValue): string {
  switch (value.type) {
    case "text":
      return quote(value.text);
    case "number":
      return value.isInteger || !Number.isInteger(value.value) ? String(value.value) : `${value.value}.0`;
    case "flag":
      return String(value.value);
    case "configSecret":
      return `config.requireSecret(${quote(value.key)})`;
    case "reference":
      return value.step.isLookup
        ? `${value.step.variable}.applyValue(found -> found.${getters(value.property)})`
        : `${value.step.variable}.${getters(value.property)}`;
    case "list":
      return container(value.elementType === "any" ? "List.<Object>of" : "List.of", value.items, valueText);
    case "map": {
      const factory = value.elementType === "any" ? "Map.<String, Object>of" : "Map.of";
      const values = value.entries.map(([, item]) => item);
      const keys = value.entries.map(([key]) => quote(key));
      return container(factory, values, (item, index) => `${keys[index]}, ${valueText(item)}`);
    }
    case "object":
      return builder(`${value.typeName}Args`, value.entries);
  }
}

const getters = (property: string[]): string => property.map((name) => `${name}()`).join(".");

/** A list or map. If it contains an output, it is created in the output's callback. */
function container(factory: string, values: TypedValue[], text: (value: TypedValue, index: number) => string): string {
  const references = values.filter((item): item is Reference => item.type === "reference");
  const [first] = references;
  if (!first) return `${factory}(${values.map(text).join(", ")})`;
  if (references.length > 1) throw new Error("an example in Java can have one reference in a list or a map");
  const { isLookup, variable } = first.step;
  // The parameter of a lambda is rendered as a resource named after the last property.
  const name = isLookup ? "found" : (first.property.at(-1) ?? "value");
  const innerText = isLookup ? `found.${getters(first.property)}` : name;
  const parts = values.map((item, index) =>
    item === first ? text(item, index).replace(valueText(item), innerText) : text(item, index),
  );
  const source = isLookup ? variable : valueText(first);
  return `${source}.applyValue(${name} -> ${factory}(${parts.join(", ")}))`;
}

const builder = (type: string, entries: Entry[]): string =>
  `${type}.builder()\n${indent([...entries.map(([name, value]) => `.${name}(${valueText(value)})`), ".build()"].join("\n"), indentation)}`;

function statementOf({ variable, member, isLookup, isUsed, args }: TypedStep): string {
  const call = isLookup
    ? `${functionsClass}.${member}(${builder(`${pascalCase(member)}Args`, args)})`
    : `new ${member}(${quote(variable)}, ${builder(`${member}Args`, args)})`;
  return `${isUsed ? `var ${variable} = ` : ""}${call};`;
}

/** The nested types used by values. */
const nestedTypes = (value: TypedValue): string[] => {
  if (value.type === "object")
    return [`${value.typeName}Args`, ...value.entries.flatMap(([, item]) => nestedTypes(item))];
  if (value.type === "map") return value.entries.flatMap(([, item]) => nestedTypes(item));
  return value.type === "list" ? value.items.flatMap(nestedTypes) : [];
};

function importsOf(steps: TypedStep[], text: string, sdk: string): string[] {
  const classes = steps.flatMap(({ member, isLookup, args }) => [
    ...(isLookup
      ? [`${sdk}.${functionsClass}`, `${sdk}.inputs.${pascalCase(member)}Args`]
      : [`${sdk}.${member}`, `${sdk}.${member}Args`]),
    ...args.flatMap(([, value]) => nestedTypes(value)).map((type) => `${sdk}.inputs.${type}`),
  ]);
  const utilImports = ["List", "Map"].filter((name) => text.includes(`${name}.`)).map((name) => `java.util.${name}`);
  return [...new Set(["com.pulumi.Pulumi", ...classes, ...utilImports])].sort();
}

/** A program in Java, over the SDK in the package `sdk`. */
export function javaText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const body = [
    ...(configSecrets.length > 0 ? ["var config = ctx.config();"] : []),
    ...steps.map(statementOf),
    ...outputs.map(([name, value]) => `ctx.export(${quote(name)}, ${valueText(value)});`),
  ].join("\n");
  return `${importsOf(steps, body, sdk)
    .map((name) => `import ${name};`)
    .join("\n")}

public class App {
    public static void main(String[] args) {
        Pulumi.run(ctx -> {
${indent(body, indentation.repeat(3))}
        });
    }
}`;
}
