import { proxiesThrough } from "../doors/proxies";
import { pluginDoor } from "./support/door";

proxiesThrough(pluginDoor);
