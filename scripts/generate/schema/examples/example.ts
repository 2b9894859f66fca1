/** Output of another resource or lookup of the example, such as `template.id`. */
export interface Reference {
  variable: string;
  property: string[];
}

/** A secret of the stack's config. */
interface ConfigSecret {
  configSecret: string;
}

/** A language-independent value. */
export type ExampleValue =
  | string
  | number
  | boolean
  | Reference
  | ConfigSecret
  | ExampleValue[]
  | { literal: Readonly<Record<string, ExampleValue>> };

/** A statement of an example: a resource declaration or a lookup. */
export interface Step {
  /** Name of the variable and of the resource. */
  variable: string;
  /** Name of a resource (`Template`) or a function (`getTemplate`). */
  member: string;
  args: Readonly<Record<string, ExampleValue>>;
}

/** A complete program, small enough for a reference page, which is rendered in each language. */
export interface Example {
  title: string;
  steps: readonly Step[];
  outputs?: Readonly<Record<string, Reference>>;
}

/** `template.id` is `ref("template", "id")`. */
export const ref = (variable: string, ...property: string[]): Reference => ({ variable, property });

/** An object or a map as a value. */
export const map = (literal: Readonly<Record<string, ExampleValue>>): ExampleValue => ({ literal });
