import { twoProjectsThrough } from "../doors/two-projects";
import { dynamicDoor } from "./door";

twoProjectsThrough(dynamicDoor);
