import { parallelThrough } from "../doors/parallel";
import { dynamicDoor } from "./door";

parallelThrough(dynamicDoor);
