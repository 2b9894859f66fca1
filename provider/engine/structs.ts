import { type EngineProperties, isSecret, markSecrets, propertiesFromEngine, toEngine } from "./engine-properties";
import type { Field } from "./protobuf";
import { struct } from "./protobuf-struct";
import type { Path, PropertyMap } from "./values";

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
