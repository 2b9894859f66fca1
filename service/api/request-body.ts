import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../errors";

/** Passes bodies of these content types as text to the routes of a scope, which parse only the members that they need. */
export function keepBodyText(app: FastifyInstance, contentTypes: string[], bodyLimit?: number): void {
  app.removeContentTypeParser(contentTypes);
  const limit = bodyLimit === undefined ? {} : { bodyLimit };
  app.addContentTypeParser(contentTypes, { parseAs: "string", ...limit }, (_request, body, finish) =>
    finish(null, body),
  );
}

/** The body text of a request in a scope of `keepBodyText`; empty without a body. */
export const bodyText = ({ body }: FastifyRequest): string => (typeof body === "string" ? body : "");

/** A part that the store would change: it truncates a text at a null character and replaces an unpaired surrogate. */
export const unstorablePart = (text: string): string | undefined => {
  if (text.includes("\0")) return "a null character";
  return /\p{Surrogate}/u.test(text) ? "an unpaired surrogate" : undefined;
};

/** The faults that no shape finds: texts that the store would change, and the variable that zod omits from `env`. */
export const textFaults = (value: unknown, path: readonly string[] = []): string[] => {
  if (typeof value === "string") {
    const part = unstorablePart(value);
    return part === undefined ? [] : [`${path.join(".") || "body"}: must not contain ${part}`];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "__proto__" && path.at(-1) === "env"
      ? [`${[...path, key].join(".")}: is not allowed`]
      : textFaults(member, [...path, key]),
  );
};

/** Rejects the bodies with such faults in all routes of a scope. */
export function checkTexts(scope: FastifyInstance, code: "invalid" | "unprocessable"): void {
  scope.addHook("preHandler", async ({ body }) => {
    const faults = textFaults(body);
    if (faults.length > 0) throw new ServiceError(code, faults.join("; "), {}, faults);
  });
}

/** Limits for reading a rejected body; beyond them, the connection is closed. */
const discardLimits = { bytes: 256 * 1024 * 1024, ms: 10_000 };

/**
 * Reads and discards the rest of a rejected body. Otherwise, a client that is still sending when the connection closes would get a
 * connection error instead of the error response.
 */
export function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    let bytes = 0;
    const finish = (): void => {
      clearTimeout(timer);
      request.off("data", count);
      resolve();
    };
    const count = (part: Buffer): void => {
      bytes += part.length;
      if (bytes > discardLimits.bytes) finish();
    };
    const timer = setTimeout(finish, discardLimits.ms);
    request.on("data", count).once("end", finish).once("close", finish);
    request.resume();
  });
}
