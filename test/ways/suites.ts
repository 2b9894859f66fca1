import { describe } from "vitest";
import { dialect } from "../support/dialect";
import { hasProc } from "../support/stack-processes";
import { describeFailures } from "./failures";
import { describeIgnoredChanges } from "./ignored-changes";
import { describeKeyRotation } from "./key-rotation";
import { describeKillSchedules } from "./kill-schedules";
import { describeLifecycle } from "./lifecycle";
import { describePreflight } from "./preflight";
import { describeSecrecy } from "./secrecy";
import { describeShortestProgram } from "./shortest-program";
import { describeTemplateRelease } from "./template-release";
import type { Way } from "./way";

type Suites = Record<string, (way: Way) => void>;

/** Suites of `npm test`: behaviour that requires an engine, in few deployments. */
const short: Suites = {
  lifecycle: describeLifecycle,
  failures: describeFailures,
  secrecy: describeSecrecy,
  preflight: describePreflight,
};

/** Suites of full runs. */
const long: Suites = {
  "key rotation": describeKeyRotation,
  "ignored changes": describeIgnoredChanges,
  "shortest program": describeShortestProgram,
  ...(hasProc ? { "kill schedules": describeKillSchedules } : {}),
  // Endpoints of REST v2 have a copy of their template: only endpoints of REST v1 delay its release.
  ...(dialect === "v1" ? { "template release": describeTemplateRelease } : {}),
};

const run = (suites: Suites, way: Way): void => {
  for (const [name, through] of Object.entries(suites)) describe(name, () => through(way));
};

/** Runs the suites of `npm test` with a provider variant. */
export const shortSuites = (way: Way): void => run(short, way);

/** Runs the suites of full runs with a provider variant. */
export const longSuites = (way: Way): void => run(long, way);
