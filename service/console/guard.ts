import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
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

function readCookie(header: string | undefined, name: string): string | undefined {
  const cookies = (header ?? "").split(";").map((part) => part.trim());
  return cookies.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The part of a request that is checked. */
interface Request {
  headers: IncomingHttpHeaders;
  method: string;
}

/** Checks requests to the console; the checks throw a ServiceError. `serverlessUrl` is the service's root once it listens. */
export function createConsoleGuard(sessions: Pick<ConsoleSessions, "isOpen">, serverlessUrl: () => string) {
  const servicePort = (): string => new URL(serverlessUrl()).port || "80";
  /** Host headers of browsers, which omit port 80: the service's own address, and loopback. */
  const hosts = (): string[] =>
    [serverlessUrl(), `http://127.0.0.1:${servicePort()}`, `http://localhost:${servicePort()}`].map(
      (url) => new URL(url).host,
    );
  const reject = (subject: string, value: string | string[] | undefined, remedy: string): never => {
    throw new ServiceError("forbidden", `${subject}: ${JSON.stringify(value ?? "")} is not allowed; ${remedy}`);
  };
  const sessionOf = ({ headers }: Pick<Request, "headers">): string =>
    readCookie(headers.cookie, cookieName(servicePort())) ?? "";
  const openHint = (): string => `open the console at ${serverlessUrl()}`;

  return {
    /** The session of a request; empty without a session. */
    sessionOf,
    /** Requires that a request's Host is an address of this machine, against DNS rebinding. */
    checkHost({ headers }: Pick<Request, "headers">): void {
      if (!hosts().includes(headers.host ?? "")) reject("header Host", headers.host, openHint());
    },
    /** Requires that a request for data comes from the console's own page, in a session. */
    checkPage(request: Request): void {
      const { headers, method } = request;
      const { origin, host } = headers;
      const fetchSite = headers["sec-fetch-site"];
      if (fetchSite !== undefined && fetchSite !== "same-origin")
        reject("header Sec-Fetch-Site", fetchSite, openHint());
      const isRead = method === "GET";
      if ((origin !== undefined || !isRead) && origin !== `http://${host}`) reject("header Origin", origin, openHint());
      if (!isRead && headers[pageHeader] !== "1") reject(`header ${pageHeader}`, headers[pageHeader], "it must be 1");
      if (sessions.isOpen(sessionOf(request))) return;
      throw new ServiceError(
        "unauthorized",
        'session: is missing or has expired; run "serverless-compute-local open" for a new link',
      );
    },
    /** Sets the session cookie. */
    setSession(reply: FastifyReply, session: string): void {
      const attributes = `HttpOnly; SameSite=Strict; Path=/console; Max-Age=${sessionLifetime / 1000}`;
      reply.header("set-cookie", `${cookieName(servicePort())}=${session}; ${attributes}`);
    },
  };
}
