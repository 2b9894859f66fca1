import type { PropertySet } from "../engine/failures";
import type { Field } from "../engine/protobuf";
import { struct } from "../engine/protobuf-struct";
import { fromWire, isRecord, isSecret, propertiesFromWire, sealed, toWire, type Wire } from "../engine/values";

function secretPathsIn(value: unknown, path: string[]): string[][] {
  if (isSecret(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((one, index) => secretPathsIn(one, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => secretPathsIn(one, [...path, key]));
}

/** Properties as the engine sent them: secrets unwrapped and their places kept. */
export const received = (plain: Wire): PropertySet => ({
  properties: propertiesFromWire(plain),
  secretPaths: secretPathsIn(plain, []),
});

/** A field that holds the properties of a resource. Absent it is empty; the values at the secret paths travel marked. */
export function properties(number: number): Field<PropertySet> {
  const { type, read, write } = struct(number);
  return {
    ...{ number, type },
    absent: () => received({}),
    read: (reader) => received(read(reader, undefined) ?? {}),
    write: (writer, { properties, secretPaths }) => write(writer, sealed(toWire(properties), secretPaths)),
  };
}

/** The text of an argument, undefined when absent or not known yet. */
export function textOf(value: unknown): string | undefined {
  const plain = fromWire(value);
  return typeof plain === "string" && plain !== "" ? plain : undefined;
}
