import { faultSchedulesThrough } from "../doors/fault-schedules";
import { pluginDoor } from "./support/door";

faultSchedulesThrough(pluginDoor);
