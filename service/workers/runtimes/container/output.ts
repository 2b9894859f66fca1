import { PassThrough, type Readable } from "node:stream";

/** Length of the header of each part of a container's output, bytes: the stream and the part's length. */
const headerLength = 8;
const stderrStream = 2;

/** Splits a container's output, which the engine multiplexes into one stream, into stdout and stderr. */
export function splitOutput(attached: Readable): { stdout: Readable; stderr: Readable } {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let header = Buffer.alloc(0);
  let remaining = 0;
  let target = stdout;

  function split(chunk: Buffer): void {
    let data = chunk;
    while (data.length > 0) {
      if (remaining === 0) {
        const missing = headerLength - header.length;
        header = Buffer.concat([header, data.subarray(0, missing)]);
        data = data.subarray(missing);
        if (header.length < headerLength) return;
        target = header[0] === stderrStream ? stderr : stdout;
        remaining = header.readUInt32BE(4);
        header = Buffer.alloc(0);
      }
      const part = data.subarray(0, remaining);
      remaining -= part.length;
      data = data.subarray(part.length);
      if (part.length > 0) target.write(part);
    }
  }

  attached.on("data", split);
  attached.on("error", () => undefined);
  attached.once("close", () => {
    stdout.end();
    stderr.end();
  });
  // A stream closes automatically only after it was read to its end; destroying both avoids waiting for an unread stream.
  for (const stream of [stdout, stderr]) stream.once("end", () => stream.destroy());
  return { stdout, stderr };
}
