import { templateReleaseThrough } from "../ways/template-release";
import { pluginWay } from "./support/way";

templateReleaseThrough(pluginWay);
