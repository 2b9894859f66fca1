import { templateReleaseThrough } from "../doors/template-release";
import { pluginDoor } from "./support/door";

templateReleaseThrough(pluginDoor);
