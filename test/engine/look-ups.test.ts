import { lookUpsThrough } from "../doors/look-ups";
import { dynamicDoor } from "./door";

lookUpsThrough(dynamicDoor, (id) => id);
