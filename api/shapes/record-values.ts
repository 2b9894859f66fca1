import { z } from "zod";
import { idPattern } from "./limits";
import { optionsOf } from "./property-options";

/** Properties and values of responses. */

/** Id of an object in a response. An empty id identifies nothing, so it counts as missing. */
export const recordId = z.string().min(1, "must not be empty");

const idRule = "the id of an object";

/** Id of another object. */
export const objectId = z.string().regex(idPattern, idRule);

/** Id of another object; empty for none. */
export const optionalObjectId = z.string().regex(new RegExp(`^$|${idPattern.source}`, idPattern.flags), idRule);

/** An optional value of a response; defaults to `fallback` if it is null or absent. */
export const orDefault = <Shape extends z.ZodType>(shape: Shape, fallback: NonNullable<z.output<Shape>>) =>
  shape.nullish().transform((value) => value ?? fallback);

/** An optional value of a response; undefined if it is null or absent. */
export const orUndefined = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? undefined);

/** A list of a response; empty if it is null or absent. */
export const listOf = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .array(shape)
    .nullish()
    .transform((value) => value ?? []);

/** Time of an event, in ISO 8601; undefined if the response has another form. */
export const isoTimestamp = z.lazy(() =>
  z
    .unknown()
    .optional()
    .transform((value) => (typeof value === "string" ? value : undefined)),
);

/** The properties of a kind by name. */
export type Fields = Record<string, z.ZodType>;

/** Values of some properties of a kind. */
export type Values<Shapes extends Fields> = {
  [Key in keyof Shapes]?: Readonly<z.output<Shapes[Key]>> | undefined;
};

/** Adds defaults to properties. */
export function withDefaults<Shapes extends Fields, Defaults extends Values<Shapes>>(
  fields: Shapes,
  defaults: Defaults,
): { [Key in keyof Shapes & keyof Defaults]: z.ZodDefault<Shapes[Key]> };
export function withDefaults(fields: Fields, defaults: Record<string, unknown>): Fields {
  return Object.fromEntries(
    Object.entries(defaults).flatMap(([key, value]) => {
      const field = fields[key];
      return field ? [[key, field.default(value)]] : [];
    }),
  );
}

/** The type of a property's values in responses, which may contain values that requests do not allow. */
type Unbounded<Value> = Value extends string ? string : Value extends readonly string[] ? string[] : Value;

/** Shape of a property's type, without bounds. */
function withoutBounds(shape: z.core.$ZodType): z.ZodType {
  if (shape instanceof z.ZodString || shape instanceof z.ZodEnum) return z.string();
  if (shape instanceof z.ZodNumber) return z.number();
  if (shape instanceof z.ZodBoolean) return z.boolean();
  if (shape instanceof z.ZodRecord) return z.record(z.string(), withoutBounds(shape.valueType));
  if (shape instanceof z.ZodUnion && shape.options[0]) return withoutBounds(shape.options[0]);
  return shape instanceof z.ZodArray ? z.array(withoutBounds(shape.element)) : z.unknown();
}

/** Shapes of a kind's plain properties in responses: their types without bounds; undefined if null or absent. */
export function recordShapes<Shapes extends Fields>(
  fields: Shapes,
): { [Key in keyof Shapes]: z.ZodOptional<z.ZodType<Unbounded<z.output<Shapes[Key]>> | undefined>> };
export function recordShapes(fields: Fields): Fields {
  const shapes = Object.entries(fields).map(([key, field]) => [key, orUndefined(withoutBounds(field)).optional()]);
  return Object.fromEntries(shapes);
}

/** Shapes of a kind's plain properties in the local service's storage, where an absent property is empty, 0 or false. */
export function storedShapes<Shapes extends Fields>(
  fields: Shapes,
): { [Key in keyof Shapes]: z.ZodDefault<z.ZodType<Unbounded<z.output<Shapes[Key]>>>> };
export function storedShapes(fields: Fields): Fields {
  const shapes = Object.entries(fields).map(([key, field]) => {
    const shape = withoutBounds(field);
    const emptyValue = ["", 0, false, [], {}].find((value) => shape.safeParse(value).success);
    return [key, shape.default(emptyValue)];
  });
  return Object.fromEntries(shapes);
}

const renameKeys = (record: object, names: ReadonlyMap<string, string>): object =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [names.get(key) ?? key, value]));

/** Pairs of a property's name and its name in REST v2, without properties that only REST v1 supports. */
export const namesInV2 = (fields: Fields): [name: string, inV2: string][] =>
  Object.entries(fields).flatMap(([name, field]): [string, string][] => {
    const { v2 = name, dialect } = optionsOf(field);
    return dialect === "v1" ? [] : [[name, v2]];
  });

type Named<Value> = Readonly<Record<string, Value>>;

/** Renames values from the first to the second name of each pair; absent values are omitted. */
const renameValues = <Value>(pairs: [from: string, to: string][], values: Named<Value>): Record<string, Value> =>
  Object.fromEntries(
    pairs.flatMap(([from, to]): [string, Value][] => {
      const value = values[from];
      return value === undefined ? [] : [[to, value]];
    }),
  );

/** Values of a kind's properties under their names in REST v2, without properties that only REST v1 supports. */
export const toV2Names = <Value>(fields: Fields, values: Named<Value>): Record<string, Value> =>
  renameValues(namesInV2(fields), values);

/** Values of a kind's properties, from values under their names in REST v2. */
export const fromV2Names = <Value>(fields: Fields, values: Named<Value>): Record<string, Value> =>
  renameValues(
    namesInV2(fields).map(([name, v2]) => [v2, name]),
    values,
  );

/** A record of REST v2 by a shape under the names of `fields`. */
export function v2RecordShape<Shape extends z.ZodType>(fields: Fields, shape: Shape) {
  const names = new Map(namesInV2(fields).map(([name, v2]) => [v2, name]));
  return z.preprocess((record) => (typeof record === "object" && record ? renameKeys(record, names) : record), shape);
}
