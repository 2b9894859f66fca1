/** Output of another resource or lookup of the example, such as `template.id`. */
export interface Reference {
  variable: string;
  property: string[];
}

/** A secret of the stack's config. */
interface ConfigSecret {
  configSecret: string;
}

/** A value as all languages have it. */
export type ExampleValue =
  | string
  | number
  | boolean
  | Reference
  | ConfigSecret
  | ExampleValue[]
  | { literal: Readonly<Record<string, ExampleValue>> };

/** One statement of an example: a resource that it declares, or an object that it looks up. */
export interface Step {
  /** Its variable, and the name of the resource. */
  variable: string;
  /** Name of a resource (`Template`) or a function (`getTemplate`). */
  member: string;
  args: Readonly<Record<string, ExampleValue>>;
}

/** A whole program, small enough for a reference page; every language's text is made from it. */
export interface Example {
  title: string;
  steps: readonly Step[];
  outputs?: Readonly<Record<string, Reference>>;
}

/** `template.id` is `ref("template", "id")`. */
export const ref = (variable: string, ...property: string[]): Reference => ({ variable, property });

/** An object or a map as a value. */
export const map = (literal: Readonly<Record<string, ExampleValue>>): ExampleValue => ({ literal });
