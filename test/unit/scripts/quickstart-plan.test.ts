import { expect, test } from "vitest";
import { planLines } from "../../../scripts/quickstart/plan.mjs";

const ready = {
  node: "22.12.0",
  npm: "10.9.0",
  cli: { version: "3.250.0", folder: "/home/ada/.pulumi/versions/3.250.0/bin" },
  go: undefined,
  pending: { install: false, compile: false },
};

test("a quickstart with everything installed only starts the service and deploys", () => {
  expect(planLines(ready)).toEqual([
    "Found: Node 22.12.0, npm 10.9.0, Pulumi CLI 3.250.0 in /home/ada/.pulumi/versions/3.250.0/bin, the npm packages.",
    "Steps, about 10 s in total:",
    "  - start the local service and deploy examples/quickstart, about 10 s",
    "",
  ]);
});

test("a quickstart that does not stay open announces the destruction", () => {
  expect(planLines(ready, false)[3]).toMatch(/^ {2}- destroy everything; in a terminal and without --once, /);
});

test("a quickstart with a CLI is announced with a job in one minute", () => {
  expect(planLines({ ...ready, pending: { install: true, compile: true } })[1]).toBe("Steps, about 60 s in total:");
});

test("a quickstart from a clean clone lists its steps with times, and the build of the CLI only if Go is installed", () => {
  const nothing = { ...ready, cli: undefined, pending: { install: true, compile: true } };
  expect(planLines({ ...nothing, go: "1.26.0" })).toEqual([
    "Found: Node 22.12.0, npm 10.9.0, no Pulumi CLI, Go 1.26.0, no up-to-date npm packages.",
    "Steps, about 70 s in total without a build of the CLI:",
    "  - download the Pulumi CLI, about 60 s; if it is not available, build it from Go modules, 3 to 10 min",
    "  - install the npm packages at the same time, about 30 s",
    "  - compile the packages at the same time, about 20 s",
    "  - start the local service and deploy examples/quickstart, about 10 s",
    "",
  ]);
  expect(planLines(nothing)[2]).toBe("  - download the Pulumi CLI, about 60 s");
});
