import { expect } from "vitest";

/** Matches a text with a fingerprint added to each default name of the stack `dev`. */
export function withFingerprints(text: string): unknown {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return expect.stringMatching(new RegExp(`^${escaped.replaceAll("-dev", "-dev-[0-9a-f]{7}")}$`));
}
