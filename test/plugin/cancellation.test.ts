import { cancellationThrough } from "../doors/cancellation";
import { pluginDoor } from "./support/door";

cancellationThrough(pluginDoor);
