import type { Path } from "../lifecycle/contract";
import type { PropertySet } from "../lifecycle/failures";
import type { Field } from "./protobuf";
import { struct } from "./protobuf-struct";
import { fromWire, isSecret, propertiesFromWire, sealed, toWire, type Wire } from "./values";

/** Adds the paths of the secrets in a value to `found`. */
function findSecrets(value: unknown, path: readonly string[], found: Path[]): void {
  if (typeof value !== "object" || value === null) return;
  if (isSecret(value)) found.push(path);
  else for (const [key, item] of Object.entries(value)) findSecrets(item, [...path, key], found);
}

const secretPathsIn = (value: object): Path[] => {
  const found: Path[] = [];
  findSecrets(value, [], found);
  return found;
};

/** Converts properties sent by the engine: secrets are unwrapped and their paths recorded. */
export const received = (plain: Wire): PropertySet => ({
  properties: propertiesFromWire(plain),
  secretPaths: secretPathsIn(plain),
});

/** Field with the properties of a resource, empty if absent. The values at the secret paths are sent as secrets. */
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

/** Text of an argument; undefined if it is absent, empty, unknown or not a string. */
export function textOf(value: unknown): string | undefined {
  const plain = fromWire(value);
  return typeof plain === "string" && plain !== "" ? plain : undefined;
}
