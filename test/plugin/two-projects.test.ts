import { twoProjectsThrough } from "../ways/two-projects";
import { pluginWay } from "./support/way";

twoProjectsThrough(pluginWay);
