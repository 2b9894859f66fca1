import type { Naming } from "../../provider/framework/contract";

/** Naming with a default name, as of `pulumi:autonaming`, or without one. Suffixes are zeros. */
export const naming = (name?: string): Naming => ({
  defaultName: name === undefined ? undefined : { name, isUnique: false },
  seed: new Uint8Array(32),
});

/** Naming with a generated name, which no other object has. */
export const uniqueNaming = (name: string): Naming => ({ ...naming(), defaultName: { name, isUnique: true } });
