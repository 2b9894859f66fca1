import { proxiesThrough } from "../ways/proxies";
import { dynamicWay } from "./way";

proxiesThrough(dynamicWay);
