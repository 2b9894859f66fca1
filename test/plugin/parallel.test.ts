import { parallelThrough } from "../doors/parallel";
import { pluginDoor } from "./support/door";

parallelThrough(pluginDoor);
