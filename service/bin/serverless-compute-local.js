#!/usr/bin/env -S node --max-semi-space-size=32
// What a job needs lives as long as the job: with Node's 16 MB for the young, a service with 128 clients spends a tenth more time.
require("../dist/cli/main.js").run();
