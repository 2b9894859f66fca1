import { secrecyThrough } from "../ways/secrecy";
import { dynamicWay } from "./way";

secrecyThrough(dynamicWay);
