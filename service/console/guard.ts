import type { FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../errors";
import { type ConsoleSessions, sessionLifetime } from "./sessions";

/** A header that pages of another origin cannot send without a preflight, which this service never allows. */
const pageHeader = "x-serverless-compute-console";

/** Headers of every response: scripts from the console's own files only, no framing, no caching. */
export const securityHeaders = {
  "content-security-policy": [
    "default-src 'none'",
    ...["script-src", "style-src", "img-src", "connect-src"].map((kind) => `${kind} 'self'`),
    ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Cookie name with the port, because all ports of a host share cookies: services do not end each other's sessions. */
const cookieName = (port: string): string => `serverless-compute-console-${port}`;

function cookieOf(header: string | undefined, name: string): string | undefined {
  const parts = (header ?? "").split(";").map((part) => part.trim());
  return parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Checks requests to the console; the checks throw a ServiceError. `serverlessUrl` is the service's root once it listens. */
export function createConsoleGuard(sessions: Pick<ConsoleSessions, "isOpen">, serverlessUrl: () => string) {
  const portOf = (): string => new URL(serverlessUrl()).port || "80";
  /** Host headers of browsers, which omit port 80. */
  const hosts = (): string[] =>
    ["127.0.0.1", "localhost"].map((host) => (portOf() === "80" ? host : `${host}:${portOf()}`));
  const forbid = (subject: string, sent: string | string[] | undefined, what: string): never => {
    throw new ServiceError("forbidden", `${subject}: ${JSON.stringify(sent ?? "")} is not allowed; ${what}`);
  };
  const openHere = (): string => `open the console at ${serverlessUrl()}`;

  return {
    /** Requires that a request's Host is an address of this machine, against DNS rebinding. */
    checkHost({ headers }: FastifyRequest): void {
      if (!hosts().includes(headers.host ?? "")) forbid("header Host", headers.host, openHere());
    },
    /** Requires that a request for data comes from the console's own page, in a session. */
    checkPage({ headers, method }: FastifyRequest): void {
      const { origin, host } = headers;
      const site = headers["sec-fetch-site"];
      if (site !== undefined && site !== "same-origin") forbid("header Sec-Fetch-Site", site, openHere());
      const reads = method === "GET" || method === "HEAD";
      if ((origin !== undefined || !reads) && origin !== `http://${host}`) forbid("header Origin", origin, openHere());
      if (!reads && headers[pageHeader] !== "1") forbid(`header ${pageHeader}`, headers[pageHeader], "it must be 1");
      if (sessions.isOpen(cookieOf(headers.cookie, cookieName(portOf())))) return;
      throw new ServiceError(
        "unauthorized",
        'session: is missing or has expired; run "serverless-compute-local open" for a new link',
      );
    },
    /** Sets the session cookie. */
    setSession(reply: FastifyReply, session: string): void {
      const limits = `HttpOnly; SameSite=Strict; Path=/console; Max-Age=${sessionLifetime / 1000}`;
      reply.header("set-cookie", `${cookieName(portOf())}=${session}; ${limits}`);
    },
  };
}
