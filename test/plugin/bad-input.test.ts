import { badInputThrough } from "../doors/bad-input";
import { pluginDoor } from "./support/door";

badInputThrough(pluginDoor);
