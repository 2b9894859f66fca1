import { describe } from "vitest";
import { killedEngineThrough } from "../doors/killed-engine";
import { pluginDoor } from "./support/door";

// Only Linux tells which processes a command has left.
describe.runIf(process.platform === "linux")("a killed engine", () => killedEngineThrough(pluginDoor));
