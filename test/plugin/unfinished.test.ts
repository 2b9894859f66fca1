import { unfinishedThrough } from "../doors/unfinished";
import { pluginDoor } from "./support/door";

unfinishedThrough(pluginDoor);
