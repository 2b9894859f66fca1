import { verifyThrough } from "../ways/verify";
import { dynamicWay } from "./way";

verifyThrough(dynamicWay);
