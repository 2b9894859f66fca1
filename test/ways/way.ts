import type { Stack } from "../support/pulumi";

/** A variant of the provider: dynamic resources or the plugin. The suites of this folder run with each. */
export interface Way {
  /** Module that a program requires for the resource classes, whose names are the same in both variants. */
  module: string;
  /** Creates a stack whose programs use this variant; its project is named "shop" by default. */
  createStack(environment: Record<string, string>, project?: { name: string }): Promise<Stack>;
  /** The program text of an explicit provider that uses this API key, an expression. */
  provider(key: string): string;
  /** The program text of getEndpointHealth's argument for the endpoint with this id, an expression. */
  health(id: string): string;
  /** Gives a stack a newer version of the package; undefined if stacks share one copy. */
  upgrade?(stack: Stack): Promise<void>;
}
