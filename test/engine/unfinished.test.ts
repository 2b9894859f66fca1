import { unfinishedThrough } from "../doors/unfinished";
import { dynamicDoor } from "./door";

unfinishedThrough(dynamicDoor);
