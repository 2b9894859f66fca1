import { z } from "zod";

/** The catalog and the errors of REST v2 on the wire; fields are added over time. */
const orNothing = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().transform((value) => value ?? undefined);
const list = orNothing(z.array(z.string())).transform((value) => value ?? []);

/** A GPU type of the catalog: memory in GB, price per hour; `pool` is null when no serverless endpoint can have it. */
export const v2GpuRecord = z.looseObject({
  id: z.string(),
  name: orNothing(z.string()),
  pool: orNothing(z.string()),
  manufacturer: orNothing(z.string()),
  memory: orNothing(z.number()),
  secure: orNothing(z.boolean()),
  community: orNothing(z.boolean()),
  price: z.unknown().optional(),
  maxCount: z.unknown().optional(),
  availability: z.unknown().optional(),
  dataCenters: z.unknown().optional(),
  cudaVersions: z.unknown().optional(),
});
export type V2GpuRecord = z.output<typeof v2GpuRecord>;

/** A data centre of the catalog. */
export const v2DataCenterRecord = z.looseObject({
  id: z.string(),
  name: orNothing(z.string()),
  region: orNothing(z.string()),
  networkVolumeTypes: list,
  compliance: list,
  globalNetwork: orNothing(z.boolean()),
});
export type V2DataCenterRecord = z.output<typeof v2DataCenterRecord>;

/** An error of REST v2: `application/problem+json`. */
export const v2Problem = z.looseObject({
  title: z.string().optional(),
  status: z.number().optional(),
  detail: z.string().optional(),
  errors: list,
});
