import { replacementsThrough } from "../doors/replacements";
import { pluginDoor } from "./support/door";

replacementsThrough(pluginDoor);
