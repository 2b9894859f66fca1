import { runtime } from "@pulumi/pulumi";
import type { ConfigLookup } from "./settings";

/** The config of the stack whose program runs; nothing where none does, as in a script. */
export const programConfig: ConfigLookup = (key) => runtime.getConfig(key);
