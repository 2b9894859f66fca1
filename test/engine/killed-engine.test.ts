import { existsSync } from "node:fs";
import { describe } from "vitest";
import { killedEngineThrough } from "../ways/killed-engine";
import { dynamicWay } from "./way";

// Only /proc tells which processes a command has left.
describe.runIf(existsSync("/proc/self"))("a killed engine", () => killedEngineThrough(dynamicWay));
