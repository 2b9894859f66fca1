import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

const rejectStart = (): never => {
  throw new Error(
    "a unit test starts no process: add its file to `withProcesses` in vitest.config.mts, which the project `processes` runs",
  );
};

/** Enforces the rule of the fastest tier, `npm run test:unit`: no processes except those of vitest. */
for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const)
  Object.assign(childProcess, { [name]: rejectStart });
syncBuiltinESMExports();
