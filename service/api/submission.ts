import { randomUUID } from "node:crypto";
import { type Bounds, jobSubmission, limits } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { JobOperation, NewJob } from "../jobs/job";
import { isObjectText } from "../json-text";
import { outOfBounds, parseInput, parseMembers, readMembers } from "../validation";

/** Reads a number of ms from a query; undefined when it is absent. */
export function readMilliseconds(query: unknown, field: string, bounds: Bounds): number | undefined {
  const sent =
    typeof query === "object" && query !== null ? Object.entries(query).find(([name]) => name === field) : undefined;
  if (!sent) return undefined;
  const value = /^\d+$/.test(String(sent[1])) ? Number(sent[1]) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw outOfBounds(field, sent[1], bounds);
}

/**
 * A UUID of version 7, which begins with the time in ms: the store finds the place of a new id behind the last one, where
 * random ones would be all over its index. Those of /runsync have a mark.
 */
function newJobId(operation: JobOperation, now: number): string {
  const time = now.toString(16).padStart(12, "0");
  const uuid = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
  return operation === "run" ? uuid : `sync-${uuid}`;
}

/** Maximum characters of a body, besides the worker's part, that may stay in memory with it. */
const largestSurplus = 1024;

/** The same text outside of the body that it is a slice of: a slice keeps the whole body in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/**
 * Returns the job of a submission's body; throws a ServiceError `invalid` that names field, value and bounds. Input and
 * s3Config are passed to the worker unchanged.
 */
export function readSubmission(endpointId: string, operation: JobOperation, body: string, now: number): NewJob {
  const members = readMembers(body);
  const input = members.get("input") ?? "";
  const s3Config = members.get("s3Config");
  const { webhook, policy } = readOptions(members, input);
  const ignored = body.length - input.length - (s3Config?.length ?? 0);
  const own = ignored > largestSurplus ? copyOf : (text: string) => text;
  return {
    id: newJobId(operation, now),
    endpointId,
    operation,
    lowPriority: policy?.lowPriority ?? false,
    executionTimeout: policy?.executionTimeout,
    createdAt: now,
    expiresAt: now + (policy?.ttl ?? limits.ttl.default),
    webhook,
    s3Config: s3Config && own(s3Config),
    input: own(input),
  };
}

/** Returns a submission's options. A body with only an input is the common case. */
function readOptions(members: ReadonlyMap<string, string>, input: string): Partial<z.output<typeof jobSubmission>> {
  if (members.size === 1 && isObjectText(input)) return {};
  const read = parseMembers(members, ["webhook", "policy", "s3Config"]);
  // An object's contents are not checked, so an empty one replaces it; the shape rejects anything else.
  return parseInput(
    jobSubmission,
    isObjectText(input) ? { ...read, input: {} } : { ...read, ...parseMembers(members, ["input"]) },
  );
}
