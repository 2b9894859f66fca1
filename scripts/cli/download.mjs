import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { lastLines, run, ToolMissing } from "../child.mjs";

/**
 * Downloads the official release of the CLI into `folder`: `pulumi` and all its language hosts. Throws `ToolMissing` if
 * no release is available.
 * @param {object} request
 * @param {string} request.version
 * @param {string} request.folder An empty folder.
 * @param {string} request.address Base URL of the releases.
 * @param {number} request.idleTimeout Milliseconds without data after which the download is aborted.
 */
export async function downloadCli({ version, folder, address, idleTimeout }) {
  const name = `pulumi-v${version}-${platformName()}.tar.gz`;
  const archive = join(folder, name);
  const checksums = join(folder, "checksums");
  const expected = await publishedChecksum(`${address}/pulumi-${version}-checksums.txt`, checksums, name, idleTimeout);
  const actual = await fetchToFile(`${address}/${name}`, archive, idleTimeout);
  if (actual !== expected) {
    throw new Error(`${name} does not match its published checksum (${expected}): it has ${actual}`);
  }
  const unpacked = await run("tar", ["-xzf", archive, "-C", folder]);
  if (unpacked.code !== 0) throw new Error(`${name} could not be unpacked: ${lastLines(unpacked)}`);
  for (const file of [archive, checksums]) await rm(file);
  await rename(join(folder, "pulumi"), join(folder, "bin"));
}

/** Platform part of a release's file name. */
function platformName() {
  const supported = { linux: ["x64", "arm64"], darwin: ["x64", "arm64"] };
  const system = process.platform;
  if ((system === "linux" || system === "darwin") && supported[system].includes(process.arch)) {
    return `${system}-${process.arch}`;
  }
  throw new ToolMissing(`there is no automatic download for ${system}-${process.arch}`);
}

/**
 * The checksum of a file in a list of checksums.
 * @param {string} url Address of the list.
 * @param {string} path Place for the list.
 * @param {string} name
 * @param {number} idleTimeout
 */
async function publishedChecksum(url, path, name, idleTimeout) {
  await fetchToFile(url, path, idleTimeout);
  for (const line of (await readFile(path, "utf8")).split("\n")) {
    const [sum, file] = line.trim().split(/\s+/);
    if (sum !== undefined && file === name && /^[0-9a-f]{64}$/.test(sum)) return sum;
  }
  throw new Error(`${url} has no checksum for ${name}`);
}

/**
 * Saves a response body and returns its SHA-256. The limit applies to the time without data instead of the total time, so that slow
 * connections succeed and dead ones fail.
 * @param {string} url
 * @param {string} path
 * @param {number} idleTimeout
 */
async function fetchToFile(url, path, idleTimeout) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), idleTimeout);
  const hash = createHash("sha256");
  try {
    const response = await fetch(url, { signal: controller.signal });
    timer.refresh();
    if (!response.ok) throw new ToolMissing(`${url} returned ${response.status}`);
    const readChunks = async function* () {
      for await (const chunk of response.body ?? []) {
        timer.refresh();
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(readChunks, createWriteStream(path));
    return hash.digest("hex");
  } catch (error) {
    if (controller.signal.aborted) throw new ToolMissing(`no response from ${url} within ${idleTimeout / 1000} s`);
    throw isFetchFailure(error)
      ? new ToolMissing(`${basename(url)}: ${describeFailure(error)} (${new URL(url).host})`)
      : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Tests whether `fetch` itself failed, which sets `cause`.
 * @param {unknown} error
 * @returns {error is TypeError}
 */
function isFetchFailure(error) {
  return error instanceof TypeError && error.cause !== undefined;
}

/** @param {TypeError} error */
function describeFailure(error) {
  const { cause } = error;
  if (cause instanceof Error) return cause.message || ("code" in cause ? String(cause.code) : cause.name);
  return error.message;
}
