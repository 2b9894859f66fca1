import { cancellationThrough } from "../doors/cancellation";
import { dynamicDoor } from "./door";

cancellationThrough(dynamicDoor);
