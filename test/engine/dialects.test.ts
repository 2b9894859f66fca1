import { dialectsThrough } from "../ways/dialects";
import { dynamicWay } from "./way";

dialectsThrough(dynamicWay);
