import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  describedProperties,
  isDescribed,
  propertyPaths,
  requestViolations,
  responseViolations,
  routeName,
  type Violation,
} from "./contract";

/**
 * Checks the REST traffic of a test file against the contracts of v1 and v2. A violation fails the test in which it happens
 * (test/support/file-setup.ts).
 */

/** A request of any API; paths without a contract are ignored. */
interface WatchedRequest {
  method: string;
  /** Path or address, with its query. */
  path: string;
  /** The body as text; empty for none. */
  body: string;
}

/** A response, with its body as text. */
interface WatchedResponse {
  status: number;
  headers?: Headers | Record<string, string> | undefined;
  body?: string | undefined;
}

const foundViolations = new Set<string>();
const toleratedPatterns: RegExp[] = [];
/** Route and status of each response, such as `GET /v2/serverless 200`. */
const responses = new Set<string>();
/** Properties of accepted requests and of their responses, such as `POST /v2/serverless sends gpu.pools`. */
const properties = new Set<string>();
const recordFolder = process.env["CONTRACT_RECORD"];

/** Accepts the violations of this test file whose line matches: the file sends bad requests on purpose, or alters responses. */
export const tolerateViolations = (line: RegExp): void => void toleratedPatterns.push(line);

/** Checks a request that a client must send correctly, regardless of the response. */
export function watchRequest({ method, path, body }: WatchedRequest): void {
  if (isDescribed(path)) recordViolations("request", requestViolations({ method, path, body: parseBody(body) }));
}

/** Checks the response to a request. A request that violates the contract must be rejected. */
export function watchResponse(request: WatchedRequest, { status, headers = {}, body = "" }: WatchedResponse): void {
  const { method, path } = request;
  if (!isDescribed(path)) return;
  const route = routeName(method, path) ?? `${method} (no route)`;
  responses.add(`${route} ${status}`);
  if (recordFolder !== undefined && status < 400) {
    for (const name of propertyPaths(parseBody(request.body))) properties.add(`${route} sends ${name}`);
    for (const name of propertyPaths(parseBody(body))) properties.add(`${route} receives ${name}`);
  }
  recordViolations("response", responseViolations({ method, path, status, headers, body }));
  // The service may ignore a body that the contract does not describe.
  const faults = requestViolations({ method, path, body: parseBody(request.body) });
  if (status < 400)
    recordViolations(
      "request",
      faults.filter(({ rule }) => rule !== "has no body"),
    );
}

function recordViolations(subject: string, violations: Violation[]): void {
  for (const { route, property, rule } of violations) {
    const line = `${route}: ${subject}: ${property.replaceAll(/\.\d+(?=\.|$)/g, "[]")}: ${rule}`;
    if (!toleratedPatterns.some((pattern) => pattern.test(line))) foundViolations.add(line);
  }
}

/** A body that is not JSON stays a string, which matches no schema of the contract. */
function parseBody(body: string): unknown {
  if (body === "") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** The violations since the last call, one line each. */
export function drainViolations(): string[] {
  const lines = [...foundViolations];
  foundViolations.clear();
  return lines;
}

/** Fails if requests or responses since the last call violate the contract. */
export function failOnViolations(): void {
  const lines = drainViolations();
  if (lines.length > 0) throw new Error(`REST traffic violates the contract:\n${lines.join("\n")}`);
}

/** Forgets the traffic and the tolerated violations of the previous test file. */
export function beginWatch(): void {
  toleratedPatterns.length = 0;
  for (const known of [foundViolations, responses, properties]) known.clear();
}

/** Records the responses that a test file received, for docs/conformance.md. */
export function recordResponses(file: string): void {
  if (recordFolder === undefined || responses.size === 0) return;
  mkdirSync(recordFolder, { recursive: true });
  const untested = describedProperties().filter((property) => !properties.has(property));
  const name = `${file.replaceAll(/[^\w.-]+/g, "_")}-${process.env["TEST_DIALECT"] ?? "v1"}.json`;
  writeFileSync(join(recordFolder, name), JSON.stringify({ file, responses: [...responses].sort(), untested }));
}
