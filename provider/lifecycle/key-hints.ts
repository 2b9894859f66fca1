import { isLoopback } from "serverless-compute-api/address";

/** Where the API key comes from, for every message that misses it. */
export const keySources = "the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY";

/** How to get the local service's key, as the end of a sentence; empty for other services. */
export const localKeyHint = (url: string): string =>
  isLoopback(url) ? '; the local service prints its key with "npx serverless-compute-local key"' : "";
