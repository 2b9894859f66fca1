import { deploymentOf } from "../provider/bundle/deployment";
import { kinds } from "../provider/resources";
import { floorOfAll } from "./floor-kinds";

/** What both ways load for a deployment (provider/bundle/deployment.ts), over lifecycles that return at once. */
export const { rest, provider } = deploymentOf(floorOfAll(kinds));
