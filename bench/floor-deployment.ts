import { deploymentOf } from "../provider/bundle/deployment";
import { kinds } from "../provider/resources";
import { floorOfAll } from "./floor-kinds";

/** The deployment bundle (provider/bundle/deployment.ts) over lifecycles that return immediately. */
export const { plugin, provider } = deploymentOf(floorOfAll(kinds));
