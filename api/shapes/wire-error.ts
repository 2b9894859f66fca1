import { z } from "zod";

/** Error bodies of the service: REST v1 has `message`, the job API `error`, REST v2 `detail` with `errors`, or `title`. */
export const wireError = z.lazy(() =>
  z
    .looseObject({
      message: z.string().optional(),
      error: z.string().optional(),
      detail: z.string().optional(),
      title: z.string().optional(),
      errors: z.array(z.string()).optional().catch(undefined),
    })
    .transform(({ message, error, detail, title, errors = [] }) => {
      const said = message ?? error ?? detail ?? title;
      return said === undefined || errors.length === 0 ? said : `${said.replace(/[.:]$/, "")}: ${errors.join("; ")}`;
    }),
);

/** The part of a GraphQL response that has errors; the key is absent on success. */
export const graphqlErrors = z.lazy(() =>
  z.looseObject({ errors: z.array(z.looseObject({ message: z.string() })).optional() }),
);
