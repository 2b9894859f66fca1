import { otherAccountThrough } from "../ways/other-account";
import { pluginWay } from "./support/way";

otherAccountThrough(pluginWay);
