import type { NetworkVolumeRecord } from "serverless-compute-api";
import { networkVolumeInputs } from "serverless-compute-api/shapes";
import { z } from "zod";
import { removeOnce } from "./absence";
import { callOptions } from "./calls";
import type { Update } from "./creation";
import { defineLifecycle, type Told } from "./definition";
import type { Context } from "./lifecycle";
import { readsOf } from "./reads";
import { createOnce } from "./reconcile";

/** What the verbs get: checked inputs, the name filled in. */
const filled = z.object({ ...networkVolumeInputs.shape, name: z.string() });
type Inputs = z.output<typeof filled>;
type Outputs = Record<never, never>;

const toldBy = ({ name, size, dataCenterId }: NetworkVolumeRecord): Told<Inputs, Outputs> => ({
  inputs: { name, size, dataCenterId },
  outputs: {},
});

async function update(
  id: string,
  { news: { name, size }, changed }: Update<Inputs>,
  context: Context,
): Promise<Outputs> {
  const patch = { ...(changed("name") ? { name } : {}), ...(changed("size") ? { size } : {}) };
  if (Object.keys(patch).length > 0)
    await context.clients.management.updateNetworkVolume(id, patch, callOptions(context));
  return {};
}

/**
 * A network volume: storage that outlives workers. It grows in place, never shrinks, and does not move to another data
 * centre: that is a new volume without the old one's data. Names need not be unique.
 */
export const networkVolume = defineLifecycle<Inputs, Outputs>({
  kind: "NetworkVolume",
  inputs: networkVolumeInputs,
  filled,
  outputs: z.object({}),
  alters: {},

  async create(inputs, context) {
    const { management } = context.clients;
    const { name, size, dataCenterId } = inputs;
    return createOnce(
      {
        ...{ kind: "NetworkVolume", inputs, shape: networkVolumeInputs },
        send: (options) => management.createNetworkVolume({ name, size, dataCenterId }, options),
        list: management.listNetworkVolumes,
        told: (found) => toldBy(found).inputs,
        outputs: () => ({}),
        change: (id, changes) => update(id, changes, context),
        remove: management.deleteNetworkVolume,
      },
      context,
    );
  },

  async read(id, _olds, context) {
    const record = await readsOf(context).networkVolumes.one(id, context);
    return record && toldBy(record);
  },

  update,

  async delete(id, _olds, context) {
    const { management } = context.clients;
    const calls = { remove: management.deleteNetworkVolume, list: management.listNetworkVolumes };
    await removeOnce(id, calls, context);
  },
});
