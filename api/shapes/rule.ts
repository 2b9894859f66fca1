import { z } from "zod";

/**
 * A rule over the properties `keys` of an object, for its shape's `check`. It is looked at as soon as these are right, and
 * sees no others: zod's own `refine` says nothing while anything else is wrong. (Beside a fraction where a whole number belongs
 * zod skips it all the same.) A break is an issue of the property `path`.
 */
export const rule = <Values, const Key extends keyof Values & string>(
  keys: readonly Key[],
  holds: (values: Pick<Values, Key>) => boolean,
  { path, error }: { path: Key; error: string },
): z.core.$ZodCheck<Values> =>
  z.refine(holds, {
    path: [path],
    error,
    when: ({ issues }) =>
      !issues.some(({ code, path: [key] = [] }) =>
        // Without a path it is about the whole object: a property too many keeps no other from being right.
        key === undefined ? code !== "unrecognized_keys" : keys.some((one) => one === key),
      ),
  });
