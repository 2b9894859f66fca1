import { existsSync } from "node:fs";
import { describe } from "vitest";
import { killedEngineThrough } from "../doors/killed-engine";
import { dynamicDoor } from "./door";

// Only /proc tells which processes a command has left.
describe.runIf(existsSync("/proc/self"))("a killed engine", () => killedEngineThrough(dynamicDoor));
