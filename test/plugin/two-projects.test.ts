import { twoProjectsThrough } from "../doors/two-projects";
import { pluginDoor } from "./support/door";

twoProjectsThrough(pluginDoor);
