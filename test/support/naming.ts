import type { Naming } from "../../provider/framework/contract";

/** Naming with a unique generated name, or without a default name. Suffixes are zeros. */
export const naming = (name?: string): Naming => ({
  defaultName: name === undefined ? undefined : { name, isUnique: true },
  seed: new Uint8Array(32),
});
