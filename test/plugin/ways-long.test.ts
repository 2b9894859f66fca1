import { longSuites } from "../ways/suites";
import { pluginWay } from "./support/way";

longSuites(pluginWay);
