import { PassThrough, type Readable } from "node:stream";

/** Length of the header of each part of a container's output, bytes: the stream and the part's length. */
const headLength = 8;
const stderrStream = 2;

/** Splits a container's output, which the engine multiplexes into one stream, into stdout and stderr. */
export function splitOutput(attached: Readable): { stdout: Readable; stderr: Readable } {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let head = Buffer.alloc(0);
  let left = 0;
  let into = stdout;

  function take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (left === 0) {
        const missing = headLength - head.length;
        head = Buffer.concat([head, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (head.length < headLength) return;
        into = head[0] === stderrStream ? stderr : stdout;
        left = head.readUInt32BE(4);
        head = Buffer.alloc(0);
      }
      const part = rest.subarray(0, left);
      left -= part.length;
      rest = rest.subarray(part.length);
      if (part.length > 0) into.write(part);
    }
  }

  attached.on("data", take);
  attached.on("error", () => undefined);
  attached.once("close", () => {
    stdout.end();
    stderr.end();
  });
  // A stream closes automatically only after it was read to its end; destroying both avoids waiting for an unread stream.
  for (const stream of [stdout, stderr]) stream.once("end", () => stream.destroy());
  return { stdout, stderr };
}
