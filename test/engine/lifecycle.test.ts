import { lifecycleThrough } from "../ways/lifecycle";
import { dynamicWay } from "./way";

lifecycleThrough(dynamicWay);
