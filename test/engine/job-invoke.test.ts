import { jobInvokeThrough } from "../ways/job-invoke";
import { dynamicWay } from "./way";

jobInvokeThrough(dynamicWay);
