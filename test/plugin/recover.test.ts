import { existsSync } from "node:fs";
import { describe } from "vitest";
import { recoverThrough } from "../ways/recover";
import { pluginWay } from "./support/way";

// The processes of a command are listed only in /proc.
describe.runIf(existsSync("/proc/self"))("recover", () => recoverThrough(pluginWay));
