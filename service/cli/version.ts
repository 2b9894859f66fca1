import { createRequire } from "node:module";

/**
 * The revision of the hosted service's REST v2 that this version implements, in short. test/contract/rest-v2.json contains the contract; a
 * test compares the two.
 */
export const contractRevision = "REST API 2.0.0, SDK 0.2.0, commit 71be666";

const manifest = "serverless-compute-local/package.json";

/** The output of `--version`: the package version and the contract revision. */
export function versionText(): string {
  const { version }: { version: string } = createRequire(__filename)(manifest);
  return `serverless-compute-local ${version}\nREST v2 contract: ${contractRevision}`;
}
