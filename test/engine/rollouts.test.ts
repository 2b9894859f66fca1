import { describe } from "vitest";
import { rolloutsThrough } from "../ways/rollouts";
import { dynamicWay } from "./way";

describe("rollouts under a steady load", () => rolloutsThrough(dynamicWay, "start"));
