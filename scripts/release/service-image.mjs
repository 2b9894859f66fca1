import { cp, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { lastLines, run } from "../child.mjs";
import { isMain, root, runScript } from "../entry.mjs";

/** npm's names of the processors that images support. */
const processors = ["x64", "arm64"];

/** Workspaces in the image, with the required files of each. */
const parts = { api: ["dist"], service: ["dist", "bin", "console/page"] };

/**
 * Creates the `docker build` context for the local service's image from built packages (`npm run build`): the
 * Dockerfile, the two packages with the dependencies in package-lock.json, and an empty data folder.
 * @param {string} target An empty or missing folder.
 * @param {string} [cpu] Processor of the image.
 */
export async function makeServiceImageContext(target, cpu = process.arch) {
  if (!processors.includes(cpu)) throw new Error(`--cpu: "${cpu}" is not allowed; must be ${processors.join(" or ")}`);
  const app = join(target, "app");
  await mkdir(app, { recursive: true });
  if ((await readdir(target)).length > 1) throw new Error(`${target} is not empty: name a new folder`);
  /** @param {string} file */
  const copyToApp = async (file) => {
    await mkdir(dirname(join(app, file)), { recursive: true });
    await cp(join(root, file), join(app, file), { recursive: true, filter: (path) => !path.endsWith(".tsbuildinfo") });
  };
  /** @type {{ workspaces: string[], devDependencies: Record<string, string> }} */
  const { workspaces, devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  // npm validates the lockfile against the manifests of all workspaces.
  const manifests = workspaces.map((name) => join(name, "package.json"));
  for (const file of ["package.json", "package-lock.json", "LICENSE", ...manifests]) await copyToApp(file);
  for (const [name, folders] of Object.entries(parts))
    for (const folder of folders) await copyToApp(join(name, folder));
  const platform = ["--os=linux", `--cpu=${cpu}`, "--libc=glibc"];
  const supported = Object.keys(parts).map((name) => `--workspace=${name}`);
  const npmFlags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const installed = await run("npm", ["ci", "--omit=dev", ...supported, ...platform, ...npmFlags], { cwd: app });
  if (installed.code !== 0) throw new Error(`the packages could not be installed: ${lastLines(installed)}`);
  // For the runtime "kubernetes", whose package npm does not install because it is an optional peer.
  const client = `@kubernetes/client-node@${devDependencies["@kubernetes/client-node"]}`;
  const added = await run(
    "npm",
    ["install", "--no-save", "--omit=dev", client, ...supported, ...platform, ...npmFlags],
    { cwd: app },
  );
  if (added.code !== 0) throw new Error(`${client} could not be installed: ${lastLines(added)}`);
  for (const name of workspaces)
    if (!(name in parts)) await rm(join(app, name.split("/")[0] ?? name), { recursive: true });
  await symlink("service/bin/serverless-compute-local.js", join(app, "serverless-compute-local"));
  await mkdir(join(target, "data"));
  await cp(join(root, "service", "Dockerfile"), join(target, "Dockerfile"));
}

const usage = "Usage: node scripts/release/service-image.mjs <folder> [--cpu x64|arm64]";

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { values, positionals } = parseArgs({ options: { cpu: { type: "string" } }, allowPositionals: true });
    const [target] = positionals;
    if (target === undefined || positionals.length > 1) throw new Error(usage);
    await makeServiceImageContext(resolve(target), values.cpu);
    console.log(`docker build -t serverless-compute-local ${target}`);
    return 0;
  }, usage);
}
