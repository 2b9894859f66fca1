import { templateReplacementThrough } from "../doors/template-replacement";
import { dynamicDoor } from "./door";

templateReplacementThrough(dynamicDoor);
