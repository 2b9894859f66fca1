import type { Dialect, NetworkVolumeRecord } from "serverless-compute-api";
import { networkVolumeFields as fields, networkVolumeSizes } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Properties, toProperties } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context, Failure } from "../../framework/contract";
import { changedProperties, changedSettings, type Update } from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a NetworkVolume resource (interface: Network volume). */
const networkVolumeInputs = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  type: fields.type.optional(),
  adoptExisting,
});

/** Checked inputs with a name, as passed to the operations. */
const checkedInputs = z.object({ ...networkVolumeInputs.shape, name: z.string() });
type Inputs = z.output<typeof checkedInputs>;

type Outputs = Record<never, never>;

/** An existing volume keeps a size that only the other dialect accepts. */
function validate({ size }: Properties, dialect: Dialect, olds: Properties): Failure[] {
  const { min, max } = networkVolumeSizes[dialect];
  if (typeof size !== "number" || size === olds["size"] || (size >= min && size <= max)) return [];
  return [{ path: "size", shown: `is ${size}`, reason: `must be from ${min} to ${max} with REST ${dialect}` }];
}

async function update(
  id: string,
  { news: { name, size, type }, changed }: Update<Inputs>,
  context: Context,
): Promise<Outputs> {
  // The type replaces a volume, except if the state does not contain it yet.
  if (type !== undefined && changed("type")) await requireType(id, type, context);
  const patch = changedSettings({ name, size }, changed);
  if (Object.keys(patch).length > 0)
    await context.clients.management.updateNetworkVolume(id, patch, callOptions(context));
  return {};
}

/** Throws if the volume has another type than the program sets. */
async function requireType(id: string, type: string, context: Context): Promise<void> {
  const volume = await context.clients.management.readNetworkVolume(id, callOptions(context));
  if (volume?.type === undefined || volume.type === type) return;
  throw new Error(
    `type: is ${JSON.stringify(type)}, but the volume has ${JSON.stringify(volume.type)}, which cannot change in place; set that ` +
      'value, or run "pulumi refresh" to preview a replacement',
  );
}

/**
 * Network volume: storage that outlives workers. It can grow in place but cannot shrink. A change of the data centre replaces it
 * by an empty volume. Names need not be unique.
 */
export const networkVolume = defineObject<Inputs, Outputs, NetworkVolumeRecord>({
  kind: "NetworkVolume",
  description:
    "Storage that outlives workers. It can grow but not shrink; a change of the data centre creates a new, empty volume.",
  inputs: networkVolumeInputs,
  checkedInputs,
  outputs: z.object({}),
  validate,
  plan: ({ changes }) => {
    const keys = changedProperties(changes.filter(({ replace }) => replace));
    return { warnings: keys.length > 0 ? [`${keys.join(", ")}: a replaced volume loses its data`] : [] };
  },

  client: (management) => ({
    list: management.listNetworkVolumes,
    read: management.readNetworkVolume,
    create: ({ adoptExisting: _, ...settings }, options) => management.createNetworkVolume(settings, options),
    delete: management.deleteNetworkVolume,
  }),
  observe: (volume) => ({ inputs: toProperties(volume), outputs: {} }),
  update,
});
