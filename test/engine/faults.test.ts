import { faultsThrough } from "../doors/faults";
import { dynamicDoor } from "./door";

faultsThrough(dynamicDoor);
