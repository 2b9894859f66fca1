import type { Change } from "./contract";

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
  hasPlaintextSecrets: boolean;
  /** Top-level properties that force a replacement, each once. */
  replaces: string[];
  /** True if the old object must be deleted first, because both would have the same unique name. */
  deleteBeforeReplace: boolean;
}

/** An invalid input in the form of the engine. */
export interface CheckFailure {
  /**
   * Top-level property whose value the engine prints; empty if the value is absent, long or secret. The engine prints `{<nil>}` for
   * a nested path, so the reason begins with the path instead.
   */
  property: string;
  reason: string;
}
