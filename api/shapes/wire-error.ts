import { z } from "zod";

/** Error bodies of the service: REST says `message`, the job API `error`, others `detail` or `title`. */
export const wireError = z
  .looseObject({
    message: z.string().optional(),
    error: z.string().optional(),
    detail: z.string().optional(),
    title: z.string().optional(),
  })
  .transform(({ message, error, detail, title }) => message ?? error ?? detail ?? title);

/** The part of a GraphQL response that has errors; the key is absent on success. */
export const graphqlErrors = z.looseObject({
  errors: z.array(z.looseObject({ message: z.string() })).optional(),
});
