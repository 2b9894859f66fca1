import { otherAccountThrough } from "../ways/other-account";
import { dynamicWay } from "./way";

otherAccountThrough(dynamicWay);
