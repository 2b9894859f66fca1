import { obeyEngine } from "../provider/engine/cancellation";
import { createHost } from "../provider/engine/host";
import type { Rest } from "../provider/plugin/main";
import { providerCalls } from "../provider/plugin/provider-calls";
import { kinds } from "../provider/resources";
import { floorOfAll } from "./floor-kinds";

/** The plugin's late part (provider/plugin/rest.ts) over lifecycles that return at once. */
export const rest: Rest = {
  begin: (listener, engineAddress) => {
    const host = createHost(engineAddress);
    obeyEngine(host.cancellation, engineAddress(), { servers: [listener] });
    return providerCalls(host, floorOfAll(kinds));
  },
};
