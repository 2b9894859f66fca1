import { InvalidArgumentError, Option } from "commander";
import { expectation, limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type OptionTexts, optionTexts } from "../option-texts";
import { optionsShape } from "../options";
import { readSeconds, wholeNumber } from "./option-values";

/** An option of `createService` that `start` has as a flag. */
interface StartOption {
  /** Path of the option, such as `["kubernetes", "context"]`. */
  path: readonly [string, ...string[]];
  schema: z.core.$ZodType;
  texts: OptionTexts & { flag: string };
}

/** The schema of a value that is present. */
const valueSchema = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodReadonly
    ? valueSchema(schema.def.innerType)
    : schema;

function optionsIn(shape: z.ZodObject, parents: readonly string[] = []): StartOption[] {
  return Object.entries(shape.shape).flatMap(([name, schema]): StartOption[] => {
    const inner = valueSchema(schema);
    if (inner instanceof z.ZodObject) return optionsIn(inner, [...parents, name]);
    const { flag, ...texts } = optionTexts.get(schema) ?? { text: "" };
    const [first = name, ...rest] = [...parents, name];
    return flag === undefined ? [] : [{ path: [first, ...rest], schema, texts: { ...texts, flag } }];
  });
}

/** The options of `start` that `createService` also has. */
export const startOptions = optionsIn(optionsShape);

/** Returns the default of an option in words; undefined if it has none. */
export function defaultText({ schema, texts }: StartOption): string | undefined {
  if (texts.defaultText !== undefined) return texts.defaultText;
  const value = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  if (typeof value === "number") return String(texts.flag.endsWith("<seconds>") ? value / 1000 : value);
  return typeof value === "string" ? value : undefined;
}

/** Returns a flag with its parser, which throws an InvalidArgumentError with what is allowed. */
export function flagOf(option: StartOption): Option {
  const { schema, texts } = option;
  const defaults = defaultText(option);
  const flag = new Option(texts.flag, defaults === undefined ? texts.text : `${texts.text} (default: ${defaults})`);
  const read = readerOf(valueSchema(schema), texts);
  if (read === undefined) return flag;
  return flag.argParser((text: string, previous: unknown) => {
    const value = read(text, previous);
    const issue = z.safeParse(schema, value).error?.issues[0];
    if (issue) throw new InvalidArgumentError(`It ${expectation(issue, schema)}.`);
    return value;
  });
}

type Read = (text: string, previous: unknown) => unknown;

/** Returns the reader of a flag's value; undefined for a flag without a value. */
function readerOf(schema: z.core.$ZodType, { flag, example }: StartOption["texts"]): Read | undefined {
  if (schema instanceof z.ZodBoolean) return undefined;
  if (flag.endsWith("<seconds>")) return readSeconds;
  if (schema instanceof z.ZodNumber) {
    const { minValue, maxValue } = schema;
    return wholeNumber(minValue ?? 0, maxValue === limits.number ? undefined : (maxValue ?? undefined));
  }
  if (schema instanceof z.ZodArray)
    return (text, previous) => [
      ...(Array.isArray(previous) ? previous : []),
      ...text.split(",").map((word) => word.trim()),
    ];
  if (!(schema instanceof z.ZodRecord)) return (text) => text;
  const form = /<(.*)>/.exec(flag)?.[1]?.toUpperCase();
  return (text, previous) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const entry = z.safeParse(schema, { [key ?? ""]: value });
    if (key === undefined || !entry.success) throw new InvalidArgumentError(`It must be ${form}, such as ${example}.`);
    return { ...(typeof previous === "object" ? previous : {}), ...entry.data };
  };
}

/** Returns the options of `createService` that flags set; `flags` contains the values by the names of the flags. */
export function optionsOfFlags(flags: Readonly<Record<string, unknown>>): object {
  const options: Record<string, unknown> = {};
  for (const { path, texts } of startOptions) {
    const value = flags[new Option(texts.flag).attributeName()];
    if (value === undefined) continue;
    const [name, member] = path;
    const group = options[name];
    options[name] = member === undefined ? value : { ...(typeof group === "object" ? group : {}), [member]: value };
  }
  return options;
}
