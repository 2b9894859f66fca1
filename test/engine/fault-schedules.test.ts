import { faultSchedulesThrough } from "../ways/fault-schedules";
import { dynamicWay } from "./way";

faultSchedulesThrough(dynamicWay);
