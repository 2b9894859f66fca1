import type { Properties } from "../../engine/values";

/** Values that a program omits: those that can be combined with it, and the names of those that contradict it. */
interface CompatibleValues {
  selected: Properties;
  /** Without values that contradict only selected ones, such as another form of them. */
  contradicting: string[];
}

/**
 * Selects the values that can be combined. A value may be valid only together with another one, so the rejected ones are tried again
 * after each accepted one.
 */
export function compatibleValues(values: Properties, isValid: (selected: Properties) => boolean): CompatibleValues {
  if (isValid(values)) return { selected: values, contradicting: [] };
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
  const contradicting = isValid({})
    ? pending.filter(([key, value]) => !isValid({ [key]: value })).map(([key]) => key)
    : [];
  return { selected, contradicting };
}
