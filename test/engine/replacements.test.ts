import { replacementsThrough } from "../ways/replacements";
import { dynamicWay } from "./way";

replacementsThrough(dynamicWay);
