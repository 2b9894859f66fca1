import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { lastLines, run, ToolMissing } from "../child.mjs";

/**
 * A platform, named as in Pulumi's plugin archives.
 * @typedef {{ os: "linux" | "darwin" | "windows", arch: "amd64" | "arm64" }} Platform
 */

/** Version of Bun that compiles the executables and is embedded in them. */
export const bunVersion = "1.4.5";

/**
 * npm packages of that version: package, Bun's platform name, and checksum, by platform.
 * @type {Record<`${Platform["os"]}-${Platform["arch"]}`, { package: string, target: string, integrity: string }>}
 */
const runtimes = {
  "linux-amd64": {
    package: "@oven/bun-linux-x64",
    target: "bun-linux-x64",
    integrity: "IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  },
  "linux-arm64": {
    package: "@oven/bun-linux-aarch64",
    target: "bun-linux-arm64",
    integrity: "4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  },
  "darwin-amd64": {
    package: "@oven/bun-darwin-x64",
    target: "bun-darwin-x64",
    integrity: "qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
  },
  "darwin-arm64": {
    package: "@oven/bun-darwin-aarch64",
    target: "bun-darwin-arm64",
    integrity: "4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  },
  "windows-amd64": {
    package: "@oven/bun-windows-x64",
    target: "bun-windows-x64",
    integrity: "FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
  },
  "windows-arm64": {
    package: "@oven/bun-windows-aarch64",
    target: "bun-windows-arm64",
    integrity: "MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw==",
  },
};

/** @type {Record<string, Platform["os"] | undefined>} */
const systems = { linux: "linux", darwin: "darwin", win32: "windows" };
/** @type {Record<string, Platform["arch"] | undefined>} */
const processors = { x64: "amd64", arm64: "arm64" };

/**
 * Platform of this process.
 * @returns {Platform}
 */
export function presentPlatform() {
  const [os, arch] = [systems[process.platform], processors[process.arch]];
  if (os && arch) return { os, arch };
  throw new ToolMissing(`there is no Bun ${bunVersion} for ${process.platform}-${process.arch}`);
}

/**
 * Bun for a platform: compiler and runtime of the executables. npm downloads it on first use; it is cached.
 * @typedef {object} Bun
 * @property {string} command
 * @property {string} runtime
 * @property {string} target Bun's name of the platform.
 */

/**
 * @param {Platform} platform
 * @param {string} [cacheFolder]
 * @returns {Promise<Bun>}
 */
export async function findBun({ os, arch }, cacheFolder = join(homedir(), ".cache", "serverless-compute", "bun")) {
  const { package: name, target, integrity } = runtimes[`${os}-${arch}`];
  const file = os === "windows" ? "bun.exe" : "bun";
  const folder = join(cacheFolder, `${bunVersion}-${os}-${arch}`);
  const found = { command: join(folder, file), runtime: join(folder, "runtime"), target };
  if (existsSync(folder)) return found;
  await mkdir(cacheFolder, { recursive: true });
  const draft = await mkdtemp(join(cacheFolder, "draft-"));
  try {
    const packed = await run("npm", ["pack", `${name}@${bunVersion}`, "--silent", "--pack-destination", draft]);
    if (packed.code !== 0) throw new ToolMissing(`npm cannot fetch ${name}@${bunVersion}: ${lastLines(packed)}`);
    const archive = join(draft, packed.stdout.trim());
    const sum = createHash("sha512")
      .update(await readFile(archive))
      .digest("base64");
    if (sum !== integrity) throw new Error(`${name}@${bunVersion} does not match its checksum; it has sha512-${sum}`);
    const unpacked = await run("tar", ["-xzf", archive, "-C", draft]);
    if (unpacked.code !== 0) throw new Error(`${name} could not be unpacked: ${lastLines(unpacked)}`);
    const programs = join(draft, "package", "bin");
    await chmod(join(programs, file), 0o755);
    await writeFile(join(programs, "runtime"), withoutCommandLine(await readFile(join(programs, file))));
    // Another process may have been faster; its folder is equivalent.
    await rename(programs, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return found;
}

/**
 * An environment variable that turns every Bun executable into Bun's own command line, for users who set it for other
 * tools. Replaced by a name with an equals sign, which no variable can have.
 */
const commandLineSwitch = ["BUN_BE_BUN", "BUN=BE=BUN"];

/** @param {Buffer} program */
function withoutCommandLine(program) {
  const [name = "", impossible = ""] = commandLineSwitch;
  const at = program.indexOf(name);
  if (at < 0 || program.indexOf(name, at + 1) >= 0) throw new Error(`Bun ${bunVersion} does not have ${name} once`);
  program.write(impossible, at, "latin1");
  return program;
}
