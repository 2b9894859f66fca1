import { isLoopback } from "serverless-compute-api/address";

/** Sources of the API key, for messages about a missing key. */
export const keySources = "the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY";

/** Advice on getting the local service's key, as the end of a sentence; empty for other services. */
export const localKeyHint = (url: string): string =>
  isLoopback(url) ? '; the local service prints its key with "npx --no serverless-compute-local key"' : "";
