// Must precede every import that creates a shape.
import "./zod-settings";

import { createProviders } from "../dynamic/provider";
import type { Lifecycle } from "../lifecycle/contract";
import type { DeploymentPart } from "../plugin/main";
import { providerCalls } from "../plugin/provider-calls";
import { handleEngineSignals } from "../process/cancellation";
import { createHost } from "../process/host";
import { kinds } from "../resources";

/** Creates the plugin and the dynamic providers for the resource kinds in a table. */
export const deploymentOf = (table: Readonly<Record<string, Lifecycle>>) => ({
  plugin: {
    begin: (listener, engineAddress) => {
      const host = createHost(engineAddress);
      handleEngineSignals(host.cancellation, engineAddress(), { servers: [listener] });
      return providerCalls(host, table);
    },
  } satisfies DeploymentPart,
  provider: createProviders(table),
});

/** Code that both provider variants load only for a deployment, in one bundle. */
export const { plugin, provider } = deploymentOf(kinds);
