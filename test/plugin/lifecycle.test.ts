import { lifecycleThrough } from "../ways/lifecycle";
import { pluginWay } from "./support/way";

lifecycleThrough(pluginWay);
