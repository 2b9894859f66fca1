import { driftThrough } from "../doors/drift";
import { pluginDoor } from "./support/door";

driftThrough(pluginDoor);
