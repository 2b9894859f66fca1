import { keptNamesThrough } from "../doors/kept-names";
import { pluginDoor } from "./support/door";

keptNamesThrough(pluginDoor);
