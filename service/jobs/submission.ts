import { randomUUID } from "node:crypto";
import { type Bounds, jobSubmission, limits } from "serverless-compute-api/shapes";
import { parseMembers, readMembers } from "../http/body-text";
import { isObjectText } from "../json-text";
import type { NewJob } from "../store/jobs";
import { outOfBounds, parseInput } from "../validation";
import type { JobOperation } from "./job";

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
 * The job that a submission's body asks for; throws a ServiceError `invalid` that names field, value and bounds. Input and
 * s3Config are the worker's: they go on as they came.
 */
export function readSubmission(endpointId: string, operation: JobOperation, body: string, now: number): NewJob {
  const members = readMembers(body);
  const input = members.get("input") ?? "";
  const read = parseMembers(members, ["webhook", "policy", "s3Config"]);
  // What an object holds is not looked at, so an empty one stands for it; anything else is told by the shape.
  const sent = isObjectText(input) ? { ...read, input: {} } : { ...read, ...parseMembers(members, ["input"]) };
  const { webhook, policy } = parseInput(jobSubmission, sent);
  return {
    id: operation === "run" ? randomUUID() : `sync-${randomUUID()}`,
    endpointId,
    operation,
    lowPriority: policy?.lowPriority ?? false,
    executionTimeout: policy?.executionTimeout,
    createdAt: now,
    expiresAt: now + (policy?.ttl ?? limits.ttl.default),
    webhook,
    s3Config: members.get("s3Config"),
    input,
  };
}
