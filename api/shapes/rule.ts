import { z } from "zod";

/**
 * A rule over the properties `keys` of an object, for its shape's `check`. It runs as soon as these properties are valid and
 * reads no others, whereas zod's `refine` runs only if the whole object is valid. (If a whole number is a fraction, zod still
 * skips the rule.) A violation is an issue of the property `path`. A text about other properties is a function, which the issue also
 * contains as the parameter `text`, because their names differ between the APIs.
 */
export const rule = <Values, const Key extends keyof Values & string>(
  keys: readonly Key[],
  isValid: (values: Pick<Values, Key>) => boolean,
  { path, error }: { path: Key; error: string | ((nameOf: (property: Key) => string) => string) },
): z.core.$ZodCheck<Values> =>
  z.refine(isValid, {
    path: [path],
    ...(typeof error === "string" ? { error } : { error: error((property) => property), params: { text: error } }),
    when: ({ issues }) =>
      !issues.some(({ code, path: [key] = [] }) =>
        // An issue without a path is about the object; an unknown property does not invalidate the others.
        key === undefined ? code !== "unrecognized_keys" : keys.some((name) => name === key),
      ),
  });
