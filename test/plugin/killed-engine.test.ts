import { existsSync } from "node:fs";
import { describe } from "vitest";
import { killedEngineThrough } from "../ways/killed-engine";
import { pluginWay } from "./support/way";

// Only /proc tells which processes a command has left.
describe.runIf(existsSync("/proc/self"))("a killed engine", () => killedEngineThrough(pluginWay));
