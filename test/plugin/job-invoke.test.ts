import { jobInvokeThrough } from "../doors/job-invoke";
import { pluginDoor } from "./support/door";

jobInvokeThrough(pluginDoor);
