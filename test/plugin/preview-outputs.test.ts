import { previewOutputsThrough } from "../ways/preview-outputs";
import { pluginWay } from "./support/way";

previewOutputsThrough(pluginWay);
