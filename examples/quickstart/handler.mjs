import { createHash } from "node:crypto";

/**
 * What a worker of the image `acme/greeter:1` runs for each job. The fingerprint shows that the secret reached the
 * worker without showing the secret.
 */
export default function greet({ input }) {
  const { GREETING = "", HUB_TOKEN = "" } = process.env;
  const tokenFingerprint = createHash("sha256").update(HUB_TOKEN).digest("hex").slice(0, 12);
  return { text: `${GREETING}, ${input.name}!`, tokenFingerprint };
}
