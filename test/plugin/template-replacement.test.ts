import { templateReplacementThrough } from "../doors/template-replacement";
import { pluginDoor } from "./support/door";

templateReplacementThrough(pluginDoor);
