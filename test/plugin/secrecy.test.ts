import { secrecyThrough } from "../ways/secrecy";
import { pluginWay } from "./support/way";

secrecyThrough(pluginWay);
