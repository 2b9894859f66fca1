import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { readSeedFile } from "../seed/seed-file";
import { apiKeyOfEnvironment } from "../settings";
import { readApiKeyFile } from "../store/api-key";
import { manifestObjects } from "../workers/runtimes/pod/manifest";
import type { Output } from "./output";

/** Flags of `manifest`. */
export interface ManifestFlags {
  image: string;
  namespace?: string;
  apiKeyFile?: string;
  storageClass?: string;
  seed?: string;
}

/** Prints the objects that run the service in a cluster, as YAML documents. */
export function printManifest({ apiKeyFile, seed, ...flags }: ManifestFlags, output: Output): void {
  const givenKey = apiKeyFile === undefined ? apiKeyOfEnvironment() : readApiKeyFile(apiKeyFile);
  const apiKey = givenKey ?? randomBytes(32).toString("hex");
  // An invalid file would end the service in the cluster.
  if (seed !== undefined) readSeedFile(seed);
  const seedText = seed === undefined ? undefined : readFileSync(seed, "utf8");
  const objects = manifestObjects({ ...flags, apiKey, seed: seedText });
  output.out(
    objects
      .map((object) => stringify(object, { aliasDuplicateObjects: false }))
      .join("---\n")
      .trimEnd(),
  );
}
