import { keptNamesThrough } from "../doors/kept-names";
import { dynamicDoor } from "./door";

keptNamesThrough(dynamicDoor);
