import { writeFileSync } from "node:fs";

/**
 * A worker that never requests a job and ignores SIGTERM. Writes its process id to the file in its first argument. Its second argument is
 * the number of bytes that it holds.
 */
const [, , file, bytes = "0"] = process.argv;
const held = Buffer.alloc(Number(bytes), 1);
process.on("SIGTERM", () => undefined);
writeFileSync(file, String(process.pid));
setInterval(() => held.length, 1000);
