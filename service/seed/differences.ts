import { isDeepStrictEqual } from "node:util";
import { showValue } from "serverless-compute-api/shapes";
import { isHidden } from "../validation";

/** A property of an object that differs from the file. */
export interface Difference {
  /** Path in the file. */
  property: string;
  /** Values as text; undefined if they may be secret. */
  values?: { file: string; service: string };
}

/** A difference as a message. */
export const differenceText = ({ property, values }: Difference): string =>
  values
    ? `${property}: ${values.file} in the file, ${values.service} in the service`
    : `${property}: differs from the service`;

/** The change of an update that removes a difference. */
export const changeText = ({ property, values }: Difference): string =>
  values ? `${property}: ${values.service} → ${values.file}` : `${property}: changed`;

/** Differences between the record that the file would create and the existing record. */
export function differencesOf(path: string, file: unknown, service: unknown): Difference[] {
  if (isObject(file) && isObject(service)) {
    const keys = new Set([...Object.keys(file), ...Object.keys(service)]);
    return [...keys].flatMap((key) => differencesOf(`${path}.${key}`, file[key], service[key]));
  }
  if (isDeepStrictEqual(file, service)) return [];
  const describeValue = (value: unknown): string => (value === undefined ? "nothing" : showValue(value));
  if (isHidden(path.split("."))) return [{ property: path }];
  return [{ property: path, values: { file: describeValue(file), service: describeValue(service) } }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A record without its name and without properties that requests cannot set. */
export function settingsOf(record: unknown): unknown {
  if (!isObject(record)) return record;
  const { id, name, createdAt, requestUrls, valueLastUpdatedAt, ...settings } = record;
  return settings;
}
