import { driftThrough } from "../ways/drift";
import { dynamicWay } from "./way";

driftThrough(dynamicWay);
