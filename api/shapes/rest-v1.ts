import { z } from "zod";
import { networkVolumeFields } from "./network-volume";
import { secretFields, secretValue } from "./secret";
import { endpointFields } from "./serverless-endpoint";

/** Request shapes of REST v1 and GraphQL, used only by the local service. */

const { computeType: _never, ...patchable } = endpointFields;
/** Body of PATCH /endpoints/{id}: any field but computeType. It has no null: an empty text clears a field. */
export const restEndpointPatch = z.object(patchable).partial();

/** Body of POST /networkvolumes. */
export const restNetworkVolumeCreate = z.object({ ...networkVolumeFields, size: z.int().min(0).max(4000) });

/** Body of PATCH /networkvolumes/{id}. */
export const restNetworkVolumePatch = restNetworkVolumeCreate.omit({ dataCenterId: true }).partial();

/** Input of the GraphQL mutation secretCreate. */
export const secretCreateInput = z.object({
  ...secretFields,
  value: secretValue,
  description: secretFields.description.nullish(),
});
/** Input of the GraphQL mutation secretValueUpdate. */
export const secretValueInput = z.object({ id: z.string(), value: secretValue });
export type SecretCreateInput = z.output<typeof secretCreateInput>;
