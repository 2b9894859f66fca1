// Before anything that makes a shape.
import "./zod-settings";

import { createProviders } from "../dynamic/provider";
import type { Lifecycle } from "../lifecycle/contract";
import type { Rest } from "../plugin/main";
import { providerCalls } from "../plugin/provider-calls";
import { obeyEngine } from "../process/cancellation";
import { createHost } from "../process/host";
import { kinds } from "../resources";

/** Creates the providers of these kinds for the plugin and for the process of dynamic resources. */
export const deploymentOf = (table: Readonly<Record<string, Lifecycle>>) => ({
  rest: {
    begin: (listener, engineAddress) => {
      const host = createHost(engineAddress);
      obeyEngine(host.cancellation, engineAddress(), { servers: [listener] });
      return providerCalls(host, table);
    },
  } satisfies Rest,
  provider: createProviders(table),
});

/** Everything that either way loads only for a deployment: one bundle. */
export const { rest, provider } = deploymentOf(kinds);
