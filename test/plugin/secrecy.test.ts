import { secrecyThrough } from "../doors/secrecy";
import { pluginDoor } from "./support/door";

secrecyThrough(pluginDoor);
