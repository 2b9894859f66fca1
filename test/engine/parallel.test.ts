import { parallelThrough } from "../ways/parallel";
import { dynamicWay } from "./way";

parallelThrough(dynamicWay);
