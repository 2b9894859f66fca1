import { foresightThrough } from "../doors/foresight";
import { pluginDoor } from "./support/door";

foresightThrough(pluginDoor);
