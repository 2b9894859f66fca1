import { describe } from "vitest";
import { dialect } from "../support/dialect";
import { hasProc } from "../support/stack-processes";
import { failuresThrough } from "./failures";
import { keyRotationThrough } from "./key-rotation";
import { killSchedulesThrough } from "./kill-schedules";
import { lifecycleThrough } from "./lifecycle";
import { preflightThrough } from "./preflight";
import { secrecyThrough } from "./secrecy";
import { templateReleaseThrough } from "./template-release";
import type { Way } from "./way";

type Suites = Record<string, (way: Way) => void>;

/** Suites of `npm test`: behaviour that requires an engine, in few deployments. */
const short: Suites = {
  lifecycle: lifecycleThrough,
  failures: failuresThrough,
  secrecy: secrecyThrough,
  preflight: preflightThrough,
};

/** Suites of full runs. */
const long: Suites = {
  "key rotation": keyRotationThrough,
  ...(hasProc ? { "kill schedules": killSchedulesThrough } : {}),
  // Endpoints of REST v2 have a copy of their template: only endpoints of REST v1 delay its release.
  ...(dialect === "v1" ? { "template release": templateReleaseThrough } : {}),
};

const run = (suites: Suites, way: Way): void => {
  for (const [name, through] of Object.entries(suites)) describe(name, () => through(way));
};

/** Runs the suites of `npm test` with a provider variant. */
export const shortSuites = (way: Way): void => run(short, way);

/** Runs the suites of full runs with a provider variant. */
export const longSuites = (way: Way): void => run(long, way);
