import type { Path } from "../lifecycle/contract";
import type { PropertySet } from "../lifecycle/failures";
import type { Field } from "./protobuf";
import { struct } from "./protobuf-struct";
import { fromWire, isSecret, propertiesFromWire, sealed, toWire, type Wire } from "./values";

/** Adds the places of what is secret in a value to `found`. */
function findSecrets(value: unknown, path: readonly string[], found: Path[]): void {
  if (typeof value !== "object" || value === null) return;
  if (isSecret(value)) found.push(path);
  else for (const [key, one] of Object.entries(value)) findSecrets(one, [...path, key], found);
}

const secretPathsIn = (value: object): Path[] => {
  const found: Path[] = [];
  findSecrets(value, [], found);
  return found;
};

/** Properties as the engine sent them: secrets unwrapped and their places kept. */
export const received = (plain: Wire): PropertySet => ({
  properties: propertiesFromWire(plain),
  secretPaths: secretPathsIn(plain),
});

/** A field that holds the properties of a resource. Absent it is empty; the values at the secret paths travel marked. */
export function properties(number: number): Field<PropertySet> {
  const { type, read, write } = struct(number);
  return {
    number,
    type,
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
