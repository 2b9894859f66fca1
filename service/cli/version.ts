import { createRequire } from "node:module";

/**
 * Revision of the hosted service's REST v2 that this version follows, in short. test/contract/rest-v2.json is the whole
 * contract; a test compares the two.
 */
export const contractRevision = "REST API 2.0.0, SDK 0.2.0, commit 71be666";

const manifest = "serverless-compute-local/package.json";

/** Lines of `--version`: the version of the package, and the contract. */
export function versionText(): string {
  const { version }: { version: string } = createRequire(__filename)(manifest);
  return `serverless-compute-local ${version}\nREST v2 contract: ${contractRevision}`;
}
