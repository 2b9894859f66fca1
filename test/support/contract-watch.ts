import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect } from "vitest";
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
 * Checks the REST traffic of a test file against the contracts of v1 and v2. A violation fails the test in which it happens.
 * The hooks run for every test file that imports this one.
 */

/** A request of any API; paths without a contract are ignored. */
export interface WatchedRequest {
  method: string;
  /** Path or address, with its query. */
  path: string;
  /** The body as text; empty for none. */
  body: string;
}

/** A response, with its body as text. */
export interface WatchedResponse {
  status: number;
  headers?: Headers | Record<string, string> | undefined;
  body?: string | undefined;
}

const found = new Set<string>();
const tolerated: RegExp[] = [];
/** Route and status of each response, such as `GET /v2/serverless 200`. */
const seen = new Set<string>();
/** Properties of accepted requests and of their responses, such as `POST /v2/serverless sends gpu.pools`. */
const properties = new Set<string>();
const recordFolder = process.env["CONTRACT_RECORD"];

/** Accepts the violations of this test file whose line matches: the file sends bad requests on purpose, or alters responses. */
export const tolerateViolations = (line: RegExp): void => void tolerated.push(line);

/** Checks a request that a client must send correctly, whatever the response is. */
export function watchRequest({ method, path, body }: WatchedRequest): void {
  if (isDescribed(path)) note("request", requestViolations({ method, path, body: parsed(body) }));
}

/** Checks the response to a request. A request that violates the contract must be rejected. */
export function watchResponse(request: WatchedRequest, { status, headers = {}, body = "" }: WatchedResponse): void {
  const { method, path } = request;
  if (!isDescribed(path)) return;
  const route = routeName(method, path) ?? `${method} (no route)`;
  seen.add(`${route} ${status}`);
  if (recordFolder !== undefined && status < 400) {
    for (const name of propertyPaths(parsed(request.body))) properties.add(`${route} sends ${name}`);
    for (const name of propertyPaths(parsed(body))) properties.add(`${route} receives ${name}`);
  }
  note("response", responseViolations({ method, path, status, headers, body }));
  // The service may ignore a body that the contract does not have.
  const broken = requestViolations({ method, path, body: parsed(request.body) });
  if (status < 400)
    note(
      "request",
      broken.filter(({ rule }) => rule !== "has no body"),
    );
}

function note(what: string, violations: Violation[]): void {
  for (const { route, property, rule } of violations) {
    const line = `${route}: ${what}: ${property.replaceAll(/\.\d+(?=\.|$)/g, "[]")}: ${rule}`;
    if (!tolerated.some((pattern) => pattern.test(line))) found.add(line);
  }
}

/** A body that is not JSON stays a string, which matches no schema of the contract. */
function parsed(body: string): unknown {
  if (body === "") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** The violations since the last call, one line each. */
export function takeViolations(): string[] {
  const lines = [...found];
  found.clear();
  return lines;
}

function failOnViolations(): void {
  const lines = takeViolations();
  if (lines.length > 0) throw new Error(`REST traffic breaks the contract:\n${lines.join("\n")}`);
}

afterEach(failOnViolations);
afterAll(() => {
  const file = expect.getState().testPath;
  if (recordFolder !== undefined && file !== undefined && seen.size > 0) {
    mkdirSync(recordFolder, { recursive: true });
    const untested = describedProperties().filter((property) => !properties.has(property));
    const name = `${file.replaceAll(/[^\w.-]+/g, "_")}-${process.env["TEST_DIALECT"] ?? "v1"}.json`;
    writeFileSync(join(recordFolder, name), JSON.stringify({ file, seen: [...seen].sort(), untested }));
  }
  failOnViolations();
});
