import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { z } from "zod";
import { fromWire, isRecord, isSecret, propertiesFromWire, sealed, toWire } from "../engine/values";
import type { Properties } from "../lifecycle/contract";

/** Properties as the engine sent them, and the paths of what it marked as secret. */
export interface Received {
  properties: Properties;
  secrets: string[][];
}

function secretPaths(value: unknown, path: string[]): string[][] {
  if (isSecret(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((one, index) => secretPaths(one, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => secretPaths(one, [...path, key]));
}

/** Reads a struct of the protocol: secrets unwrapped and their places kept. An absent struct is empty. */
export function readStruct(struct: Struct | undefined): Received {
  const plain: unknown = struct?.toJavaScript() ?? {};
  const record = isRecord(plain) ? plain : {};
  return { properties: propertiesFromWire(record), secrets: secretPaths(record, []) };
}

const jsonObject = z.record(z.string(), z.json());

/** Writes properties as a struct of the protocol, with the values at `secrets` marked. */
export function writeStruct(properties: object, secrets: readonly (readonly string[])[] = []): Struct {
  return Struct.fromJavaScript(jsonObject.parse(sealed(toWire(properties), secrets)));
}

/** The text of an argument, undefined when absent or not known yet. */
export function textOf(value: unknown): string | undefined {
  const plain = fromWire(value);
  return typeof plain === "string" && plain !== "" ? plain : undefined;
}
