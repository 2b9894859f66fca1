import { proxiesThrough } from "../ways/proxies";
import { pluginWay } from "./support/way";

proxiesThrough(pluginWay);
