// Before anything that makes a shape.
import "./zod-settings";

import { obeyEngine } from "../engine/cancellation";
import { createHost } from "../engine/host";
import { kinds } from "../resources";
import type { Rest } from "./main";
import { providerCalls } from "./provider-calls";

/** Everything of the plugin that main.ts loads only for a deployment: a bundle of its own. */
export const rest: Rest = {
  begin: (listener, engineAddress) => {
    const host = createHost(engineAddress);
    obeyEngine(host.cancellation, engineAddress(), { servers: [listener] });
    return providerCalls(host, kinds);
  },
};
