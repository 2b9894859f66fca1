import { writeFileSync } from "node:fs";

/** A worker that never requests a job and ignores SIGTERM. Writes its process id to the file in its first argument. */
process.on("SIGTERM", () => undefined);
writeFileSync(process.argv[2], String(process.pid));
setInterval(() => undefined, 1000);
