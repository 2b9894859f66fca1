import { keptNamesThrough } from "../ways/kept-names";
import { pluginWay } from "./support/way";

keptNamesThrough(pluginWay);
