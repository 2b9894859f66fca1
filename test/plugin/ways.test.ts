import { shortSuites } from "../ways/suites";
import { pluginWay } from "./support/way";

shortSuites(pluginWay);
