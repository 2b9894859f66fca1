import { cancellationThrough } from "../ways/cancellation";
import { dynamicWay } from "./way";

cancellationThrough(dynamicWay);
