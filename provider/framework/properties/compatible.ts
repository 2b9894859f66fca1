import type { Properties } from "../../engine/values";

/**
 * Selects the values that can be combined. A value may be valid only together with another one, so the rejected ones are tried again
 * after each accepted one.
 */
export function compatibleValues(values: Properties, isValid: (selected: Properties) => boolean): Properties {
  let selected: Properties = {};
  let pending = Object.entries(values);
  for (let previous = -1; pending.length !== previous; ) {
    previous = pending.length;
    pending = pending.filter(([key, value]) => {
      const candidate = { ...selected, [key]: value };
      const accepts = isValid(candidate);
      if (accepts) selected = candidate;
      return !accepts;
    });
  }
  return selected;
}
