import type { Lifecycle, Properties } from "../provider/lifecycle/contract";

/** An id of the form that the service gives. */
let made = 0;
const nextId = (): string => `floor${(made++).toString(36).padStart(9, "0")}`;

/**
 * A lifecycle that talks to nobody and returns at once: what is left is the engine, the transport and the process. Its
 * state is the same: the defaults of the first resource of a kind are those of all.
 */
function floorOf(lifecycle: Lifecycle): Lifecycle {
  let defaults: Properties | undefined;
  const outputsOf = (properties: Properties): Properties => ({
    ...Object.fromEntries(Object.keys(lifecycle.traits).map((key) => [key, null])),
    ...properties,
  });
  return {
    ...lifecycle,
    check: (olds, news, ...rest) => {
      defaults ??= lifecycle.check(olds, news, ...rest).inputs;
      return { inputs: { ...defaults, ...news }, failures: [] };
    },
    diff: () => [],
    warnings: () => [],
    previewOutputs: (olds, news) => ({ ...outputsOf(news), ...olds }),
    create: async (properties) => ({ id: nextId(), outputs: outputsOf(properties) }),
    read: async (id, olds) => ({ id, inputs: olds, outputs: olds }),
    update: async (_id, olds, news) => ({ ...olds, ...news }),
    delete: async () => {},
  };
}

/** The kinds of resources with lifecycles that return at once. */
export const floorOfAll = (kinds: Readonly<Record<string, Lifecycle>>): Record<string, Lifecycle> =>
  Object.fromEntries(Object.entries(kinds).map(([kind, lifecycle]) => [kind, floorOf(lifecycle)]));
