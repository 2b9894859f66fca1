import { replacementsThrough } from "../ways/replacements";
import { pluginWay } from "./support/way";

replacementsThrough(pluginWay);
