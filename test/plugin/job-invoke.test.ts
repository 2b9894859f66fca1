import { jobInvokeThrough } from "../ways/job-invoke";
import { pluginWay } from "./support/way";

jobInvokeThrough(pluginWay);
