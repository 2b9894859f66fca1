import { expect } from "vitest";

/** Matches a text with a fingerprint added to each default name of the stack `dev`. */
export function fingerprinted(text: string): unknown {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return expect.stringMatching(new RegExp(`^${literal.replaceAll("-dev", "-dev-[0-9a-f]{7}")}$`));
}
