import { unfinishedThrough } from "../ways/unfinished";
import { dynamicWay } from "./way";

unfinishedThrough(dynamicWay);
