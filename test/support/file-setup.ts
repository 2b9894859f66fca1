import { afterAll, afterEach, expect } from "vitest";
import { beginWatch, failOnViolations, recordResponses } from "./contract-watch";
import { forgetSecrets } from "./secret-scan";

/** Vitest runs this file before each test file, whose modules may be loaded already (`isolate: false`). */
beginWatch();
forgetSecrets();

afterEach(failOnViolations);
afterAll(() => {
  recordResponses(expect.getState().testPath ?? "");
  failOnViolations();
});
