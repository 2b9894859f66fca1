import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { runChecked } from "../support/run-checked";

const pythonPaths = z.object({ executable: z.string(), stdlib: z.string(), site: z.string(), version: z.string() });
const askPaths = `
import json, os, sys, sysconfig
paths = sysconfig.get_paths()
version = "python%d.%d" % sys.version_info[:2]
found = {"executable": os.path.realpath(sys.executable), "stdlib": paths["stdlib"], "site": paths["purelib"]}
print(json.dumps({**found, "version": version}))
`;

/** Tools that a base image requires in addition to Node (service/Dockerfile). */
const tools = ["/bin/sh", "/usr/bin/grep", "/usr/bin/sleep", "/usr/bin/rm"];

/** Builds an image of this Node, basic commands and the programs of this folder. */
export const importNode = (host: string, image: string): Promise<void> =>
  withNodeFolder((root) =>
    importFolder(host, image, root, ["ENV PATH=/usr/bin", 'CMD ["node", "/programs/worker.mjs"]']),
  );

/** Calls a function with the root folder of an image of this Node, basic commands and the programs of this folder. */
export const withNodeFolder = (use: (root: string) => Promise<void>): Promise<void> =>
  inFolder(async (root) => {
    await copyTo(root, process.execPath, "/usr/bin/node");
    const there = tools.map((path) => realpathSync(existsSync(path) ? path : path.replace("/usr", "")));
    for (const [index, path] of tools.entries()) await copyTo(root, there[index] ?? path, path);
    // Libraries of the service's database, for the image in service-image.test.ts.
    const database = fileURLToPath(new URL("../../node_modules/@libsql", import.meta.url));
    const modules = (await readdir(database, { recursive: true })).filter((file) => file.endsWith("-gnu/index.node"));
    await copyLinked(root, [process.execPath, ...there, ...modules.map((file) => join(database, file))]);
    await copyTo(root, fileURLToPath(new URL("programs", import.meta.url)), "/programs");
    const quickstart = fileURLToPath(new URL("../../examples/quickstart/handler.mjs", import.meta.url));
    await copyTo(root, quickstart, "/programs/quickstart.mjs");
    const server = fileURLToPath(new URL("../support/handlers/http-server.mjs", import.meta.url));
    await copyTo(root, server, "/programs/http-server.mjs");
    await use(root);
  });

/** Builds an image of a virtual environment's Python, its packages, and the handlers of the SDK's tests. */
export const importPython = (host: string, image: string, python: string): Promise<void> =>
  inFolder(async (root) => {
    const paths = pythonPaths.parse(JSON.parse(await runChecked(python, ["-c", askPaths])));
    // Python expects its library next to its own folder.
    await copyTo(root, paths.executable, "/usr/local/bin/python3");
    const notUsed = /\/(site-packages|dist-packages|test|idlelib|ensurepip|tkinter|config-[^/]*)$/;
    await copyTo(root, paths.stdlib, `/usr/local/lib/${paths.version}`, (path) => !notUsed.test(path));
    await copyTo(root, paths.site, "/site");
    const modules = await Promise.all([paths.stdlib, paths.site].map(sharedLibraries));
    await copyLinked(root, [paths.executable, ...modules.flat()]);
    await copyTo(root, fileURLToPath(new URL("../sdk/handlers", import.meta.url)), "/handlers");
    // The SDK's start-up checks look for GPUs and call external addresses.
    const env = { PATH: "/usr/local/bin", PYTHONPATH: "/site", RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true" };
    const words = Object.entries({ ...env, RUNPOD_SKIP_GPU_CHECK: "true" }).map((pair) => `ENV ${pair.join("=")}`);
    await importFolder(host, image, root, [...words, 'CMD ["python3", "-u", "/handlers/plain.py"]']);
  });

/** Calls a function with a new folder that contains the files of every image, and removes the folder. */
async function inFolder(make: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "image-"));
  try {
    await mkdir(`${root}/tmp`);
    // Every user writes there, whatever the umask.
    await chmod(`${root}/tmp`, 0o1777);
    await make(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function copyTo(root: string, from: string, to: string, filter = (_path: string) => true): Promise<void> {
  await mkdir(dirname(root + to), { recursive: true });
  // With other times, Python would recompile every module in every container.
  await cp(from, root + to, { recursive: true, dereference: true, preserveTimestamps: true, filter });
}

async function sharedLibraries(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => /\.so[.\d]*$/.test(file)).map((file) => join(folder, file));
}

/** Copies the linked libraries of programs and libraries to the same paths. */
async function copyLinked(root: string, files: string[]): Promise<void> {
  const linked = new Set((await runChecked("ldd", files)).match(/(?<=^\t(?:\S+ => )?)\/\S+(?= \()/gm) ?? []);
  for (const path of linked) await copyTo(root, path, path);
}

/** Builds an image of a folder's content. */
async function importFolder(host: string, image: string, folder: string, changes: string[]): Promise<void> {
  const words = changes.flatMap((change) => ["--change", change]);
  const tar = spawn("tar", ["-c", "-C", folder, "."], { stdio: ["ignore", "pipe", "inherit"] });
  const docker = spawn("docker", ["--host", host, "import", ...words, "-", image], {
    stdio: [tar.stdout, "ignore", "inherit"],
  });
  const code = await new Promise((resolve, reject) => docker.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`docker import of ${image} ended with exit code ${code}`);
}
