import { badInputThrough } from "../doors/bad-input";
import { dynamicDoor } from "./door";

badInputThrough(dynamicDoor);
