import { JsonTextError, memberTexts } from "serverless-compute-api/json-text";
import { ServiceError } from "./errors";

/** The members of a body as texts; throws a ServiceError `invalid` if the body is not a JSON object. */
export function readMembers(body: string): ReadonlyMap<string, string> {
  try {
    const members = body.trim() === "" ? undefined : memberTexts(body);
    if (members) return members;
  } catch (error) {
    if (error instanceof JsonTextError) throw new ServiceError("invalid", `body: ${error.message}`);
    throw error;
  }
  throw new ServiceError("invalid", "body: must be a JSON object");
}

/** Parses the members that the service itself uses. */
export function parseMembers(members: ReadonlyMap<string, string>, names: string[]): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const name of names) {
    const text = members.get(name);
    if (text !== undefined) entries.push([name, JSON.parse(text)]);
  }
  return Object.fromEntries(entries);
}
