import { describe } from "vitest";
import { hasProc } from "../support/stack-processes";
import { describeFailures } from "./failures";
import { describeIgnoredChanges } from "./ignored-changes";
import { describeKeyRotation } from "./key-rotation";
import { describeKillSchedules } from "./kill-schedules";
import { describeLifecycle } from "./lifecycle";
import { describeSecrecy } from "./secrecy";
import type { Way } from "./way";

type Suites = Record<string, (way: Way) => void>;

/** Suites of `npm test`: behaviour that requires an engine, in few deployments. */
const short: Suites = {
  lifecycle: describeLifecycle,
  failures: describeFailures,
  secrecy: describeSecrecy,
};

/** Suites of full runs. */
const long: Suites = {
  "key rotation": describeKeyRotation,
  "ignored changes": describeIgnoredChanges,
  ...(hasProc ? { "kill schedules": describeKillSchedules } : {}),
};

const run = (suites: Suites, way: Way): void => {
  for (const [name, through] of Object.entries(suites)) describe(name, () => through(way));
};

/** Runs the suites of `npm test` with a provider variant. */
export const shortSuites = (way: Way): void => run(short, way);

/** Runs the suites of full runs with a provider variant. */
export const longSuites = (way: Way): void => run(long, way);
