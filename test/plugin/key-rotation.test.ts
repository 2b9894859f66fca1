import { keyRotationThrough } from "../doors/key-rotation";
import { pluginDoor } from "./support/door";

keyRotationThrough(pluginDoor, 'new Provider("own", { apiKey: key })');
