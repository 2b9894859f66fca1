import { lifecycleThrough } from "../doors/lifecycle";
import { pluginDoor } from "./support/door";

lifecycleThrough(pluginDoor);
