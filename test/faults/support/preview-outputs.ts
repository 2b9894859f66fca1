import { expect } from "vitest";
import type { Properties } from "../../../provider/lifecycle/contract";
import { defaultsKey } from "../../../provider/lifecycle/properties/defaults";
import { hasUnknown } from "../../../provider/lifecycle/properties/values";

/**
 * Fails unless a preview has the real outputs, except exactly the `unknownOutputs`. Properties that will be absent are null in a
 * preview, because programs treat missing properties as unknown. The record of omitted properties is internal.
 */
export function expectPreviewOutputs(
  previewed: Properties,
  real: Properties,
  unknownOutputs: readonly string[] = [],
): void {
  const unknownKeys = Object.keys(previewed).filter((key) => hasUnknown(previewed[key]));
  expect(unknownKeys.sort()).toEqual([...unknownOutputs].sort());
  const knownValues = (outputs: Properties) =>
    Object.fromEntries(
      Object.entries(outputs).filter(
        ([key, value]) => value !== null && key !== defaultsKey && !unknownOutputs.includes(key),
      ),
    );
  expect(knownValues(previewed)).toEqual(knownValues(real));
}
