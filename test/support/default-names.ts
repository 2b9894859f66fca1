import { expect } from "vitest";

/** Fits a text in which each default name of the stack `dev`, written without its fingerprint, has one. */
export function fingerprinted(text: string): unknown {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return expect.stringMatching(new RegExp(`^${literal.replaceAll("-dev", "-dev-[0-9a-f]{7}")}$`));
}
