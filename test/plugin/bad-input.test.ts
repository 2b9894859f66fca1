import { badInputThrough } from "../ways/bad-input";
import { pluginWay } from "./support/way";

badInputThrough(pluginWay);
