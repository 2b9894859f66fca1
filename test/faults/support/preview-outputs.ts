import { expect } from "vitest";
import { hasUnknown, type Properties } from "../../../provider/engine/values";
import { defaultsKey } from "../../../provider/framework/properties/defaults";

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
