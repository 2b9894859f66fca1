import type { Stack } from "../support/pulumi";

/** A way in which programs reach the lifecycles; what holds for all of them is tested through each. */
export interface Way {
  /** Module that a program requires for the resource classes, whose names are the same in both variants. */
  module: string;
  /** Makes a stack whose programs go this way; its project is called "shop" unless another name is given. */
  createStack(environment: Record<string, string>, project?: { name: string }): Promise<Stack>;
  /** The program text of an explicit provider that uses this API key, an expression. */
  provider(key: string): string;
  /** The program text of getEndpointHealth's argument for the endpoint with this id, an expression. */
  health(id: string): string;
  /** Turns the package of a stack into a newer version, if the stack can have its own copy. */
  upgrade?(stack: Stack): Promise<void>;
}
