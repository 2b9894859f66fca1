import { describe } from "vitest";
import { rolloutsThrough } from "../ways/rollouts";
import { pluginWay } from "./support/way";

describe("rollouts under a steady load", () => rolloutsThrough(pluginWay, "hang"));
