import { z } from "zod";
import { dataCenterIds } from "../catalog";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { isoTimestamp, recordId, recordShapes, type Values, v2RecordShape } from "./record-values";

/** Allowed sizes by dialect (GB; v1: description of REST v1; v2: contract, NetworkVolumeCreate). */
export const networkVolumeSizes = { v1: { min: 0, max: 4000 }, v2: { min: 10, max: 4096 } } as const;

/** The properties of a network volume; inputs, records and bodies use the same names, or the option `v2`. */
export const networkVolumeFields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the volume; does not have to be unique."),
  size: z
    .int()
    .min(networkVolumeSizes.v1.min)
    .max(networkVolumeSizes.v2.max)
    .describe("Size in GB; can only be increased.")
    .register(propertyOptions, { growsOnly: "create a new volume under another resource name" }),
  dataCenterId: z
    .string()
    .min(1)
    .describe("Data centre of the volume, for example `EU-RO-1`.")
    .register(propertyOptions, {
      v2: "dataCenter",
      catalog: { noun: "data centre", ids: dataCenterIds },
      replaceOnChanges: true,
    }),
  type: z
    .enum(["STANDARD", "HIGH_PERFORMANCE"])
    .describe("Storage tier; defaults to the data centre's default tier. REST v2 only.")
    .register(propertyOptions, { computedWhenUnset: true, dialect: "v2", replaceOnChanges: true }),
};

/** Settings of a new network volume. */
export type NetworkVolumeSettings = Values<typeof networkVolumeFields> & {
  name: string;
  size: number;
  dataCenterId: string;
};

/** A network volume in a response of REST v1. */
export const networkVolumeRecord = z.lazy(() =>
  z.object({
    ...recordShapes(networkVolumeFields),
    id: recordId,
    name: z.string(),
    size: z.number(),
    dataCenterId: z.string(),
    createdAt: isoTimestamp,
  }),
);
export type NetworkVolumeRecord = z.output<typeof networkVolumeRecord>;

/** A network volume in a response of REST v2. */
export const v2NetworkVolumeRecord = z.lazy(() => v2RecordShape(networkVolumeFields, networkVolumeRecord));

const { name, dataCenterId, type } = networkVolumeFields;

/** Body of POST /networkvolumes. */
export const restNetworkVolumeCreate = z
  .object(networkVolumeFields)
  .omit({ type: true })
  .extend({ size: z.int().min(networkVolumeSizes.v1.min).max(networkVolumeSizes.v1.max) });

/** Body of PATCH /networkvolumes/{id}. */
export const restNetworkVolumePatch = restNetworkVolumeCreate.omit({ dataCenterId: true }).partial();

const size = z.int().min(networkVolumeSizes.v2.min).max(networkVolumeSizes.v2.max);

/** Body of POST /network-volumes of REST v2. */
export const v2NetworkVolumeCreate = z.strictObject({ name, size, dataCenter: dataCenterId, type: type.optional() });

/** Body of PATCH /network-volumes/{id} of REST v2. */
export const v2NetworkVolumePatch = z
  .strictObject({ name, size })
  .partial()
  .refine((body) => Object.keys(body).length > 0, { error: "must have name, size, or both" });
