import { driftThrough } from "../doors/drift";
import { dynamicDoor } from "./door";

driftThrough(dynamicDoor);
