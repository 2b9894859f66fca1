import { faultSchedulesThrough } from "../doors/fault-schedules";
import { dynamicDoor } from "./door";

faultSchedulesThrough(dynamicDoor);
