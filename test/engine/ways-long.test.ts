import { longSuites } from "../ways/suites";
import { dynamicWay } from "./way";

longSuites(dynamicWay);
