import { jobInvokeThrough } from "../doors/job-invoke";
import { dynamicDoor } from "./door";

jobInvokeThrough(dynamicDoor);
