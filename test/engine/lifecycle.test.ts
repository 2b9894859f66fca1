import { lifecycleThrough } from "../doors/lifecycle";
import { dynamicDoor } from "./door";

lifecycleThrough(dynamicDoor);
