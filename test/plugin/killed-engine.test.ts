import { existsSync } from "node:fs";
import { describe } from "vitest";
import { killedEngineThrough } from "../doors/killed-engine";
import { pluginDoor } from "./support/door";

// Only /proc tells which processes a command has left.
describe.runIf(existsSync("/proc/self"))("a killed engine", () => killedEngineThrough(pluginDoor));
