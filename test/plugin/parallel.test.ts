import { parallelThrough } from "../ways/parallel";
import { pluginWay } from "./support/way";

parallelThrough(pluginWay);
