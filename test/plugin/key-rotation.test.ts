import { keyRotationThrough } from "../ways/key-rotation";
import { pluginWay } from "./support/way";

keyRotationThrough(pluginWay, 'new Provider("own", { apiKey: key })');
