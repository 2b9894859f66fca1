import { dialectsThrough } from "../ways/dialects";
import { pluginWay } from "./support/way";

dialectsThrough(pluginWay);
