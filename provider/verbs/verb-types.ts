import type { Change } from "../lifecycle/contract";

/** The subject of a verb. */
export interface ResourceCall {
  /** URN of the resource; empty if the state lacks it. */
  urn: string;
  /** Custom timeout of the verb, ms. */
  timeout?: number | undefined;
}

/** Result of a diff. */
export interface ResourceDiff {
  changes: Change[];
  /** True if an update must encrypt values in the state that the program has made secret; it sends no request without changes. */
  exposesSecrets: boolean;
  /** Top-level properties that force a replacement, each once. */
  replaces: string[];
  /** True if the old object must be deleted first, because both would have the same unique name. */
  deleteBeforeReplace: boolean;
}

/** An invalid input. */
export interface CheckFailure {
  /** In Pulumi's property path syntax; empty if the failure concerns all inputs. */
  path: string;
  reason: string;
  /** True if the engine, which prints the value of a top-level property, may print it: it is short and contains no secret. */
  isPrintable: boolean;
}
