import { writeFileSync } from "node:fs";

/** A worker that never asks for a job and ignores SIGTERM; leaves its process id in the file of its first argument. */
process.on("SIGTERM", () => undefined);
writeFileSync(process.argv[2], String(process.pid));
setInterval(() => undefined, 1000);
