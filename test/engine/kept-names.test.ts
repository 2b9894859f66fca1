import { keptNamesThrough } from "../ways/kept-names";
import { dynamicWay } from "./way";

keptNamesThrough(dynamicWay);
