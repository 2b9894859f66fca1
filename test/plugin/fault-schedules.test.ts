import { faultSchedulesThrough } from "../ways/fault-schedules";
import { pluginWay } from "./support/way";

faultSchedulesThrough(pluginWay);
