import type { Properties } from "../provider/engine/values";
import type { ResourceOperations } from "../provider/framework/contract";

/** An id in the service's format. */
let createdCount = 0;
const nextId = (): string => `floor${(createdCount++).toString(36).padStart(9, "0")}`;

/**
 * ResourceOperations without I/O that returns immediately; only engine, transport and process remain. The state has the same inputs as with
 * the real lifecycle, because all resources of a kind have the defaults of its first resource, and no other outputs.
 */
function floorOf(lifecycle: ResourceOperations): ResourceOperations {
  let defaults: Properties | undefined;
  return {
    ...lifecycle,
    check: (olds, news, ...rest) => {
      defaults ??= lifecycle.check(olds, news, ...rest).inputs;
      return { inputs: { ...defaults, ...news }, failures: [], nameSource: "program" };
    },
    diff: () => [],
    warnings: () => [],
    previewOutputs: (olds, news) => ({ ...news, ...olds }),
    create: async (properties) => ({ id: nextId(), outputs: properties }),
    read: async (id, olds) => ({ id, inputs: olds, outputs: olds }),
    update: async (_id, olds, news) => ({ ...olds, ...news }),
    delete: async () => {},
  };
}

/** Kinds of resources with lifecycles that return immediately. */
export const floorOfAll = (kinds: Readonly<Record<string, ResourceOperations>>): Record<string, ResourceOperations> =>
  Object.fromEntries(Object.entries(kinds).map(([kind, lifecycle]) => [kind, floorOf(lifecycle)]));
