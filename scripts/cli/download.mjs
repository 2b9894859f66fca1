import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
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
 * @param {number} request.patience Maximum time for the checksums, ms.
 */
export async function downloadCli({ version, folder, address, patience }) {
  const name = `pulumi-v${version}-${platformName()}.tar.gz`;
  const archive = join(folder, name);
  const expected = await publishedChecksum(`${address}/pulumi-${version}-checksums.txt`, name, patience);
  const actual = await fetchToFile(`${address}/${name}`, archive);
  if (actual !== expected) {
    throw new Error(`${name} does not match its published checksum (${expected}): it has ${actual}`);
  }
  const unpacked = await run("tar", ["-xzf", archive, "-C", folder]);
  if (unpacked.code !== 0) throw new Error(`${name} could not be unpacked: ${lastLines(unpacked)}`);
  await rm(archive);
  await rename(join(folder, "pulumi"), join(folder, "bin"));
}

/** Platform part of a release's file name. */
function platformName() {
  const known = { linux: ["x64", "arm64"], darwin: ["x64", "arm64"] };
  const system = process.platform;
  if ((system === "linux" || system === "darwin") && known[system].includes(process.arch)) {
    return `${system}-${process.arch}`;
  }
  throw new ToolMissing(`there is no automatic download for ${system}-${process.arch}`);
}

/**
 * @param {string} url
 * @param {string} name
 * @param {number} patience
 */
async function publishedChecksum(url, name, patience) {
  const text = await receive(url, AbortSignal.timeout(patience), (response) => response.text());
  for (const line of text.split("\n")) {
    const [sum, file] = line.trim().split(/\s+/);
    if (sum !== undefined && file === name && /^[0-9a-f]{64}$/.test(sum)) return sum;
  }
  throw new Error(`${url} has no checksum for ${name}`);
}

/**
 * Saves a response body and returns its SHA-256. Node itself limits the time without data, so that slow connections succeed.
 * @param {string} url
 * @param {string} path
 */
function fetchToFile(url, path) {
  return receive(url, null, async ({ body }) => {
    const hash = createHash("sha256");
    await pipeline(
      body ?? [],
      async function* (chunks) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(path),
    );
    return hash.digest("hex");
  });
}

/**
 * Fetches an address and reads the response. Throws `ToolMissing` if the address cannot be reached.
 * @template T
 * @param {string} url
 * @param {AbortSignal | null} signal
 * @param {(response: Response) => Promise<T>} read
 * @returns {Promise<T>}
 */
async function receive(url, signal, read) {
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new ToolMissing(`${url} returned ${response.status}`);
    return await read(response);
  } catch (error) {
    if (signal?.aborted) throw new ToolMissing(`no response from ${url} in time`);
    throw isFetchFailure(error) ? new ToolMissing(`${basename(url)}: ${faultOf(error)} (${new URL(url).host})`) : error;
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
function faultOf(error) {
  const { cause } = error;
  if (cause instanceof Error) return cause.message || ("code" in cause ? String(cause.code) : cause.name);
  return error.message;
}
