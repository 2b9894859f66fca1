import { verifyThrough } from "../ways/verify";
import { pluginWay } from "./support/way";

verifyThrough(pluginWay);
