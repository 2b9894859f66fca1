import { lookUpsThrough } from "../ways/look-ups";
import { dynamicWay } from "./way";

lookUpsThrough(dynamicWay, (id) => id);
