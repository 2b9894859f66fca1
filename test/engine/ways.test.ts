import { shortSuites } from "../ways/suites";
import { dynamicWay } from "./way";

shortSuites(dynamicWay);
