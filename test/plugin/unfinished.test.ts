import { unfinishedThrough } from "../ways/unfinished";
import { pluginWay } from "./support/way";

unfinishedThrough(pluginWay);
