import { secrecyThrough } from "../doors/secrecy";
import { dynamicDoor } from "./door";

secrecyThrough(dynamicDoor);
