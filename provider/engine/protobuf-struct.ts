import {
  type EngineProperties,
  isSecret,
  markSecrets,
  propertiesFromEngine,
  setOwn,
  toEngine,
} from "./engine-properties";
import { type Field, nested } from "./protobuf";
import type { Path, PropertyMap } from "./values";
import { type Reader, type Writer, wireTypes } from "./wire-format";

type JsonObject = Record<string, unknown>;

/** Field of type google.protobuf.Struct, converted from and to a JSON object; undefined if absent. */
export const struct = (number: number): Field<JsonObject | undefined> =>
  nested(number, {
    readFrom: readStruct,
    writeTo: writeStruct,
  });

function readStruct(reader: Reader): JsonObject {
  const properties: JsonObject = {};
  while (!reader.done) {
    const tag = reader.varint();
    if (tag !== 10) {
      reader.skip(tag);
      continue;
    }
    const entry = reader.nested();
    let key = "";
    let value: unknown = null;
    while (!entry.done) {
      const part = entry.varint();
      if (part === 10) key = entry.text();
      else if (part === 18) value = readValue(entry.nested());
      else entry.skip(part);
    }
    setOwn(properties, key, value);
  }
  return properties;
}

function readValue(reader: Reader): unknown {
  let value: unknown = null;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 8) {
      reader.varint();
      value = null;
    } else if (tag === 17) value = reader.double();
    else if (tag === 26) value = reader.text();
    else if (tag === 32) value = reader.varint() !== 0;
    else if (tag === 42) value = readStruct(reader.nested());
    else if (tag === 50) value = readList(reader.nested());
    else reader.skip(tag);
  }
  return value;
}

function readList(reader: Reader): unknown[] {
  const values: unknown[] = [];
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 10) values.push(readValue(reader.nested()));
    else reader.skip(tag);
  }
  return values;
}

function writeStruct(writer: Writer, properties: object): void {
  for (const [key, value] of Object.entries(properties).toReversed()) {
    const startSize = writer.size;
    writeValue(writer, value);
    writer.tag(2, wireTypes.sized);
    writer.text(key);
    writer.tag(1, wireTypes.sized);
    writer.length(startSize);
    writer.tag(1, wireTypes.sized);
  }
}

/** Writes a JSON value with its length. Throws for any other value, which is a bug in the provider, before the engine fails on it. */
function writeValue(writer: Writer, value: unknown): void {
  const startSize = writer.size;
  if (value === null) {
    writer.varint(0);
    writer.tag(1, wireTypes.varint);
  } else if (typeof value === "string") {
    writer.text(value);
    writer.tag(3, wireTypes.sized);
  } else if (typeof value === "number") {
    writer.double(value);
    writer.tag(2, wireTypes.fixed64);
  } else if (typeof value === "boolean") {
    writer.varint(value ? 1 : 0);
    writer.tag(4, wireTypes.varint);
  } else if (Array.isArray(value)) {
    for (const item of value.toReversed()) {
      writeValue(writer, item);
      writer.tag(1, wireTypes.sized);
    }
    writer.length(startSize);
    writer.tag(6, wireTypes.sized);
  } else if (typeof value === "object") {
    writeStruct(writer, value);
    writer.length(startSize);
    writer.tag(5, wireTypes.sized);
  } else throw new TypeError(`a value of type ${typeof value} cannot be sent to the engine`);
  writer.length(startSize);
}

/** Adds the paths of the secrets in a value to `secretPaths`. */
function findSecrets(value: unknown, path: readonly string[], secretPaths: Path[]): void {
  if (typeof value !== "object" || value === null) return;
  if (isSecret(value)) secretPaths.push(path);
  else for (const [key, item] of Object.entries(value)) findSecrets(item, [...path, key], secretPaths);
}

const secretPathsIn = (value: object): Path[] => {
  const secretPaths: Path[] = [];
  findSecrets(value, [], secretPaths);
  return secretPaths;
};

/** Converts properties sent by the engine: secrets are unwrapped and their paths recorded. */
export const toPropertyMap = (plain: EngineProperties): PropertyMap => ({
  properties: propertiesFromEngine(plain),
  secretPaths: secretPathsIn(plain),
});

/** Field with the properties of a resource, empty if absent. The values at the secret paths are sent as secrets. */
export function properties(number: number): Field<PropertyMap> {
  const { type, read, write } = struct(number);
  return {
    number,
    type,
    defaultValue: () => toPropertyMap({}),
    read: (reader) => toPropertyMap(read(reader, undefined) ?? {}),
    write: (writer, { properties, secretPaths }) => write(writer, markSecrets(toEngine(properties), secretPaths)),
  };
}
