import type { NetworkVolumeRecord } from "serverless-compute-api";
import { z } from "zod";
import { callOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import { createOnce } from "../../lifecycle/create/create-once";
import type { Update } from "../../lifecycle/create/creation";
import { type Actual, defineLifecycle } from "../../lifecycle/define";
import { deleteIfPresent } from "../../lifecycle/deletion";
import { createReads } from "../../lifecycle/reads";
import { type Inputs, networkVolumeInputs, resolvedInputs } from "./inputs";

/** Reads of network volumes. */
export const networkVolumeReads = createReads(({ listNetworkVolumes, readNetworkVolume }) => ({
  list: listNetworkVolumes,
  read: readNetworkVolume,
}));

type Outputs = Record<never, never>;

const fromRecord = ({ name, size, dataCenterId }: NetworkVolumeRecord): Actual<Inputs, Outputs> => ({
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
  description: "Storage that outlives workers. It can grow; a move to another data centre is a new, empty volume.",
  inputs: networkVolumeInputs,
  resolved: resolvedInputs,
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
        actual: (found) => fromRecord(found).inputs,
        outputs: () => ({}),
        change: (id, changes) => update(id, changes, context),
        remove: management.deleteNetworkVolume,
      },
      context,
    );
  },

  async read(id, _olds, context) {
    const record = await networkVolumeReads(context).one(id, context);
    return record && fromRecord(record);
  },

  update,

  async delete(id, _olds, context) {
    const { management } = context.clients;
    const calls = { remove: management.deleteNetworkVolume, list: management.listNetworkVolumes };
    await deleteIfPresent(id, calls, context);
  },
});
