import { templateReleaseThrough } from "../doors/template-release";
import { dynamicDoor } from "./door";

templateReleaseThrough(dynamicDoor);
