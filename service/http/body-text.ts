import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../errors";
import { JsonTextError, memberTexts } from "../json-text";

/** Lets the routes of a scope have bodies of these content types as text, to read what is theirs and pass on the rest. */
export function keepBodyText(app: FastifyInstance, contentTypes: string[], bodyLimit?: number): void {
  app.removeContentTypeParser(contentTypes);
  const limit = bodyLimit === undefined ? {} : { bodyLimit };
  app.addContentTypeParser(contentTypes, { parseAs: "string", ...limit }, (_request, body, done) => done(null, body));
}

/** The body of a request in a scope of `keepBodyText`; empty when there is none. */
export const bodyText = ({ body }: FastifyRequest): string => (typeof body === "string" ? body : "");

/** The members of a body that has to be a JSON object, as texts. */
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

/** Those of the members that the service itself reads, parsed. */
export function parseMembers(members: ReadonlyMap<string, string>, names: string[]): Record<string, unknown> {
  const read: [string, unknown][] = [];
  for (const name of names) {
    const text = members.get(name);
    if (text !== undefined) read.push([name, JSON.parse(text)]);
  }
  return Object.fromEntries(read);
}
