import { createHash } from "node:crypto";

/**
 * Handler of the image `acme/greeter:1`. The fingerprint proves that the secret reached the worker, without
 * revealing it.
 */
export default function greet({ input }) {
  const { GREETING = "", HUB_TOKEN = "" } = process.env;
  const tokenFingerprint = createHash("sha256").update(HUB_TOKEN).digest("hex").slice(0, 12);
  return { text: `${GREETING}, ${input.name}!`, tokenFingerprint };
}
