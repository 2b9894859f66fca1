import { badInputThrough } from "../ways/bad-input";
import { dynamicWay } from "./way";

badInputThrough(dynamicWay);
