import { writeFileSync } from "node:fs";

/** A worker that never requests a job and ignores SIGTERM. Writes its process id to the file in `FILE`. */
process.on("SIGTERM", () => undefined);
if (process.env.FILE) writeFileSync(process.env.FILE, String(process.pid));
setInterval(() => undefined, 1000);
