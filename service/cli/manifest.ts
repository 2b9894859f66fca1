import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { z } from "zod";
import { StartError } from "../errors";
import { readSeedFile } from "../seed/seed-file";
import { apiKeyOfEnvironment, withStartError } from "../settings";
import { readApiKeyFile } from "../store/api-key";
import { parseInput } from "../validation";
import { type ManifestOptions, manifestObjects } from "../workers/runtimes/pod/manifest";
import { className, namespaceName } from "../workers/runtimes/pod/settings";
import type { Output } from "./output";

/** Flags of `manifest`; `seed` is a file. */
export interface ManifestFlags extends Omit<ManifestOptions, "apiKey"> {
  apiKeyFile?: string;
}

const flagsShape = z.object({
  "--image": z.string().regex(/^\S+$/, "an image name without spaces"),
  "--namespace": namespaceName.optional(),
  "--storage-class": className.optional(),
});

/** Maximum size of a seed file as JSON, bytes: kubectl keeps it in an annotation, whose limit is 256 KiB. */
const maxSeedSize = 250_000;

/** Prints the objects that run the service in a cluster, as YAML documents. */
export function printManifest({ apiKeyFile, seed: seedFile, ...flags }: ManifestFlags, output: Output): void {
  const { image, namespace, storageClass } = flags;
  const checked = { "--image": image, "--namespace": namespace, "--storage-class": storageClass };
  withStartError(() => parseInput(flagsShape, checked));
  const givenKey = apiKeyFile === undefined ? apiKeyOfEnvironment() : readApiKeyFile(apiKeyFile);
  const apiKey = givenKey ?? randomBytes(32).toString("hex");
  // An invalid file would end the service in the cluster.
  if (seedFile !== undefined) readSeedFile(seedFile);
  const seed = seedFile === undefined ? undefined : readFileSync(seedFile, "utf8");
  if (seed !== undefined && Buffer.byteLength(JSON.stringify(seed)) > maxSeedSize)
    throw new StartError(`--seed ${seedFile}: is too large for kubectl apply; must be ${maxSeedSize} bytes or less`);
  const documents = manifestObjects({ ...flags, apiKey, seed }).map((object) =>
    stringify(object, { aliasDuplicateObjects: false }),
  );
  output.out(documents.join("---\n").trimEnd());
}
