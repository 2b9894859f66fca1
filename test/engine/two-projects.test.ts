import { twoProjectsThrough } from "../ways/two-projects";
import { dynamicWay } from "./way";

twoProjectsThrough(dynamicWay);
