import { driftThrough } from "../ways/drift";
import { pluginWay } from "./support/way";

driftThrough(pluginWay);
