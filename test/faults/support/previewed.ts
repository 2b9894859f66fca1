import { expect } from "vitest";
import type { Properties } from "../../../provider/lifecycle/contract";
import { hasUnknown } from "../../../provider/lifecycle/properties/values";

/**
 * Fails unless a preview has the real outputs, except exactly the `unknown` ones. Properties that will be absent are null in a
 * preview, because programs treat missing ones as unknown.
 */
export function expectPreviewed(previewed: Properties, real: Properties, unknown: readonly string[] = []): void {
  const open = Object.keys(previewed).filter((key) => hasUnknown(previewed[key]));
  expect(open.sort()).toEqual([...unknown].sort());
  const known = (all: Properties) =>
    Object.fromEntries(Object.entries(all).filter(([key, value]) => value !== null && !unknown.includes(key)));
  expect(known(previewed)).toEqual(known(real));
}
