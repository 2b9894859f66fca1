import { faultsThrough } from "../ways/faults";
import { pluginWay } from "./support/way";

faultsThrough(pluginWay);
