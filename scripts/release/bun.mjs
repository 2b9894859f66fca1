import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { lastLines, run, ToolMissing } from "../child.mjs";

/** @typedef {keyof typeof runtimes} Arch A processor, named as in Pulumi's plugin archives. */

/** Version of Bun that compiles the executables and is embedded in them. */
export const bunVersion = "1.4.5";

/** npm packages of that version for Linux: package, Bun's platform name, and checksum, by processor. */
const runtimes = {
  amd64: {
    package: "@oven/bun-linux-x64",
    target: "bun-linux-x64",
    integrity: "IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  },
  arm64: {
    package: "@oven/bun-linux-aarch64",
    target: "bun-linux-arm64",
    integrity: "4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  },
};

/**
 * Processor of this machine.
 * @returns {Arch}
 */
export function currentArch() {
  if (process.platform === "linux" && process.arch === "x64") return "amd64";
  if (process.platform === "linux" && process.arch === "arm64") return "arm64";
  throw new ToolMissing(`executables are built on Linux with x64 or arm64, not on ${process.platform}-${process.arch}`);
}

/**
 * Bun for a processor: compiler and runtime of the executables. npm downloads it on first use; it is cached.
 * @typedef {object} Bun
 * @property {string} command
 * @property {string} runtime
 * @property {string} target Bun's name of the platform.
 */

/**
 * @param {Arch} arch
 * @returns {Promise<Bun>}
 */
export async function findBun(arch) {
  const cacheFolder = join(homedir(), ".cache", "serverless-compute", "bun");
  const { package: name, target, integrity } = runtimes[arch];
  const folder = join(cacheFolder, `${bunVersion}-linux-${arch}`);
  const bun = { command: join(folder, "bun"), runtime: join(folder, "runtime"), target };
  if (existsSync(folder)) return bun;
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
    await chmod(join(programs, "bun"), 0o755);
    await writeFile(join(programs, "runtime"), withoutCommandLine(await readFile(join(programs, "bun"))));
    // Another process may have been faster; its folder is equivalent.
    await rename(programs, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return bun;
}

/**
 * An environment variable that turns every Bun executable into Bun's own command line, for users who set it for other
 * tools. Replaced by a name with an equals sign, which no variable can have.
 */
const commandLineSwitch = ["BUN_BE_BUN", "BUN=BE=BUN"];

/** @param {Buffer} program */
function withoutCommandLine(program) {
  const [name = "", impossible = ""] = commandLineSwitch;
  const position = program.indexOf(name);
  if (position < 0 || program.indexOf(name, position + 1) >= 0)
    throw new Error(`Bun ${bunVersion} does not have ${name} once`);
  program.write(impossible, position, "latin1");
  return program;
}
