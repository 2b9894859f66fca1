import { templateReleaseThrough } from "../ways/template-release";
import { dynamicWay } from "./way";

templateReleaseThrough(dynamicWay);
