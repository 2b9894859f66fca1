import { templateReplacementThrough } from "../ways/template-replacement";
import { dynamicWay } from "./way";

templateReplacementThrough(dynamicWay);
