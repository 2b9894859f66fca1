import { cancellationThrough } from "../ways/cancellation";
import { pluginWay } from "./support/way";

cancellationThrough(pluginWay);
