import { templateReplacementThrough } from "../ways/template-replacement";
import { pluginWay } from "./support/way";

templateReplacementThrough(pluginWay);
