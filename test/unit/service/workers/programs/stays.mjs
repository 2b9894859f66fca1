import { writeFileSync } from "node:fs";

/** A worker that never requests a job and ignores SIGTERM. Writes its process id to the file in its argument. */
const [, , file] = process.argv;
process.on("SIGTERM", () => undefined);
writeFileSync(file, String(process.pid));
setInterval(() => undefined, 1000);
