#!/usr/bin/env -S node --max-semi-space-size=32
// A job makes garbage that lives as long as the job: with Node's 16 MB for the young, a busy service spends a fifth more time.
require("../dist/cli/main.js").run();
