import { proxiesThrough } from "../doors/proxies";
import { dynamicDoor } from "./door";

proxiesThrough(dynamicDoor);
