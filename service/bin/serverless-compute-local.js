#!/usr/bin/env -S node --max-semi-space-size=32
// What a job needs lives as long as the job: with Node's 16 MB for the young, a service with 128 clients spends a tenth more time.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 20 || (major === 20 && minor >= 19)) require("../dist/cli/main.js").run();
else {
  console.error(
    `serverless-compute-local: requires Node 20.19 or later, found ${process.versions.node}; install a newer Node`,
  );
  process.exitCode = 1;
}
