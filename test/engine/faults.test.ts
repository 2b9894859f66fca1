import { faultsThrough } from "../ways/faults";
import { dynamicWay } from "./way";

faultsThrough(dynamicWay);
