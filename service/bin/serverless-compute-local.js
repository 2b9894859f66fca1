#!/usr/bin/env -S node --max-semi-space-size=32
// Job data lives as long as the job. With Node's default young generation of 16 MB, a service with 128 clients takes a tenth more time.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 20 || (major === 20 && minor >= 19)) require("../dist/cli/main.js").run();
else {
  console.error(
    `serverless-compute-local: requires Node 20.19 or later, found ${process.versions.node}; install a newer Node`,
  );
  process.exitCode = 1;
}
