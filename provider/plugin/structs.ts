import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { z } from "zod";
import type { PropertySet } from "../engine/failures";
import { fromWire, isRecord, isSecret, propertiesFromWire, sealed, toWire } from "../engine/values";
import type { Path } from "../lifecycle/contract";

function secretPathsIn(value: unknown, path: string[]): string[][] {
  if (isSecret(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((one, index) => secretPathsIn(one, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => secretPathsIn(one, [...path, key]));
}

/** Reads a struct of the protocol: secrets unwrapped and their places kept. An absent struct is empty. */
export function readStruct(struct: Struct | undefined): PropertySet {
  const plain: unknown = struct?.toJavaScript() ?? {};
  const record = isRecord(plain) ? plain : {};
  return { properties: propertiesFromWire(record), secretPaths: secretPathsIn(record, []) };
}

const jsonObject = z.record(z.string(), z.json());

/** Writes properties as a struct of the protocol, with the values at `secretPaths` marked. */
export function writeStruct(properties: object, secretPaths: readonly Path[] = []): Struct {
  return Struct.fromJavaScript(jsonObject.parse(sealed(toWire(properties), secretPaths)));
}

/** What a verb returned, as a struct of the protocol. */
export const structOf = ({ properties, secretPaths }: PropertySet): Struct => writeStruct(properties, secretPaths);

/** The text of an argument, undefined when absent or not known yet. */
export function textOf(value: unknown): string | undefined {
  const plain = fromWire(value);
  return typeof plain === "string" && plain !== "" ? plain : undefined;
}
