import type { Path } from "../lifecycle/contract";
import type { PropertySet } from "../lifecycle/failures";
import type { Field } from "./protobuf";
import { struct } from "./protobuf-struct";
import { isSecret, markSecrets, propertiesFromWire, toWire, type Wire } from "./values";

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
export const toPropertySet = (plain: Wire): PropertySet => ({
  properties: propertiesFromWire(plain),
  secretPaths: secretPathsIn(plain),
});

/** Field with the properties of a resource, empty if absent. The values at the secret paths are sent as secrets. */
export function properties(number: number): Field<PropertySet> {
  const { type, read, write } = struct(number);
  return {
    number,
    type,
    defaultValue: () => toPropertySet({}),
    read: (reader) => toPropertySet(read(reader, undefined) ?? {}),
    write: (writer, { properties, secretPaths }) => write(writer, markSecrets(toWire(properties), secretPaths)),
  };
}
