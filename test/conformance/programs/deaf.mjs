import { writeFileSync } from "node:fs";

/** A program that never asks for a job and hears no SIGTERM; leaves its process id in the file that FILE names. */
process.on("SIGTERM", () => undefined);
if (process.env.FILE) writeFileSync(process.env.FILE, String(process.pid));
setInterval(() => undefined, 1000);
