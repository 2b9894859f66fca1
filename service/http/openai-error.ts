import type { ServiceError, ServiceErrorCode } from "../errors";

/** Words that OpenAI's clients know, `type` and `code` of an error. */
const words: Record<ServiceErrorCode, [type: string, code: string]> = {
  invalid: ["invalid_request_error", "invalid_request"],
  conflict: ["invalid_request_error", "conflict"],
  inUse: ["invalid_request_error", "in_use"],
  missing: ["invalid_request_error", "not_found"],
  missingOnDelete: ["invalid_request_error", "not_found"],
  tooLarge: ["invalid_request_error", "request_too_large"],
  unauthorized: ["authentication_error", "invalid_api_key"],
  tooManyRequests: ["rate_limit_error", "rate_limit_exceeded"],
  jobCancelled: ["invalid_request_error", "job_cancelled"],
  jobFailed: ["server_error", "job_failed"],
  jobTimedOut: ["server_error", "job_timed_out"],
  internal: ["server_error", "internal_error"],
  stopping: ["server_error", "stopping"],
};

/** The error body that OpenAI's clients read: `{"error": {message, type, param, code}}`. */
export function openaiErrorBody({ code, message }: Pick<ServiceError, "code" | "message">): object {
  const [type, word] = words[code];
  return { error: { message, type, param: null, code: word } };
}
