import { randomUUID } from "node:crypto";
import { isObjectText } from "serverless-compute-api/json-text";
import { type Bounds, jobSubmission, limits } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { parseMembers, readMembers } from "../json-members";
import type { JobOperation, NewJob } from "../queue/job";
import type { SteadyClock } from "../steady-clock";
import { outOfBounds, parseInput } from "../validation";

/** Reads a number of milliseconds from a query; undefined if it is absent. */
export function readMilliseconds(query: unknown, field: string, bounds: Bounds): number | undefined {
  const entry =
    typeof query === "object" && query !== null ? Object.entries(query).find(([name]) => name === field) : undefined;
  if (!entry) return undefined;
  const value = /^\d+$/.test(String(entry[1])) ? Number(entry[1]) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw outOfBounds(field, entry[1], bounds);
}

/**
 * Generates a UUID of version 7. It begins with the time in ms, so that new ids are appended to the store's index, unlike random ids. Ids
 * of /runsync have a mark.
 */
function newJobId(operation: JobOperation, now: number): string {
  const time = now.toString(16).padStart(12, "0");
  const uuid = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
  return operation === "run" ? uuid : `sync-${uuid}`;
}

/**
 * Reads a job from a submission's body; throws a ServiceError `invalid` that names field, value and bounds. Passes input and s3Config to
 * the worker unchanged.
 */
export function readSubmission(endpointId: string, operation: JobOperation, body: string, clock: SteadyClock): NewJob {
  const members = readMembers(body);
  const input = members.get("input") ?? "";
  const s3Config = members.get("s3Config");
  const { webhook, policy } = readOptions(members, input);
  const now = clock.system.now();
  return {
    id: newJobId(operation, now),
    endpointId,
    operation,
    lowPriority: policy?.lowPriority ?? false,
    executionTimeout: policy?.executionTimeout,
    createdAt: now,
    queuedAt: clock.now(),
    expiresAt: now + (policy?.ttl ?? limits.ttl.default),
    webhook,
    s3Config,
    input,
  };
}

/** Reads a submission's options; optimized for the common body with only an input. */
function readOptions(members: ReadonlyMap<string, string>, input: string): Partial<z.output<typeof jobSubmission>> {
  if (members.size === 1 && isObjectText(input)) return {};
  const parsed = parseMembers(members, ["webhook", "policy", "s3Config"]);
  // The contents of objects are not checked, so an empty object replaces them; the shape rejects other types.
  return parseInput(
    jobSubmission,
    isObjectText(input) ? { ...parsed, input: {} } : { ...parsed, ...parseMembers(members, ["input"]) },
  );
}
