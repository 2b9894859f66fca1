// Must precede every import that creates a shape.
import "./zod-settings";

import { createProviders } from "../dynamic/provider";
import { handleEngineSignals } from "../engine/cancellation";
import type { ResourceOperations } from "../framework/contract";
import { createProviderProcess } from "../framework/process";
import type { ImplementationBundle } from "../plugin/main";
import { providerCalls } from "../plugin/provider-calls";
import { kinds } from "../resources";

/** Creates the plugin and the dynamic providers for the resource kinds in a table. */
export const deploymentOf = (table: Readonly<Record<string, ResourceOperations>>) => ({
  plugin: {
    begin: (listener, engineAddress) => {
      const providerProcess = createProviderProcess(engineAddress);
      handleEngineSignals(providerProcess.cancellation, engineAddress(), { servers: [listener] });
      return providerCalls(providerProcess, table);
    },
  } satisfies ImplementationBundle,
  provider: createProviders(table),
});

/** Code that both provider variants load only for a deployment, in one bundle. */
export const { plugin, provider } = deploymentOf(kinds);
