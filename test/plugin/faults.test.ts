import { faultsThrough } from "../doors/faults";
import { pluginDoor } from "./support/door";

faultsThrough(pluginDoor);
