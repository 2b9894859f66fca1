import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { generateSdk, sdkLanguages } from "../../scripts/generate/sdks.mjs";
import { createProgress } from "../../scripts/progress.mjs";
import { makeReleaseAssets } from "../../scripts/release/assets.mjs";
import { repository } from "../plugin/support/sdk";
import { scratchFolder } from "../support/folders";
import { closeServer, listenOnLoopback } from "../support/loopback";

const { version }: { version: string } = createRequire(import.meta.url)("../../provider/package.json");
const archive = (os: string, arch: string): string =>
  `pulumi-resource-serverless-compute-v${version}-${os}-${arch}.tar.gz`;
const platforms = ["linux", "darwin", "windows"].flatMap((os) => ["amd64", "arm64"].map((arch) => [os, arch] as const));

/** The folder of the release's files, and of a Pulumi home. */
const folder = scratchFolder(afterAll);
const assets = join(folder, "assets");
const sdks = join(folder, "sdks");
const schema = join(repository, "schema.json");
const generated = await Promise.all(
  sdkLanguages.map((language) =>
    generateSdk(language, { schema, target: sdks, cli: inject("cli"), progress: createProgress() }),
  ),
);
const reason = generated.flatMap((result) => ("reason" in result ? [result.reason] : []))[0];
if (reason !== undefined) console.warn(`The release is made without SDKs: ${reason}`);
beforeAll(() => makeReleaseAssets(assets, reason === undefined ? { sdks } : {}));

it("a release contains the plugin for each platform, the packages with their bills of materials, the schema and the SDKs", async () => {
  const packages = ["pulumi-serverless-compute", "serverless-compute-api", "serverless-compute-local"];
  const sdkComponents = [
    `pulumi-serverless-compute-sdk-${version}.tgz`,
    ...sdkLanguages.map((language) => `pulumi-serverless-compute-sdk-${language}-v${version}.tar.gz`),
  ];
  expect((await readdir(assets)).sort()).toEqual(
    [
      "SHA256SUMS",
      "schema.json",
      ...(reason === undefined ? sdkComponents : []),
      ...packages.flatMap((name) => [`${name}-${version}.tgz`, `${name}-${version}.cdx.json`]),
      ...platforms.map(([os, arch]) => archive(os, arch)),
    ].sort(),
  );
});

it("a release lists in each bill of materials the installed packages, not the build tools and peers", async () => {
  const components = async (name: string): Promise<string[]> => {
    const bom = JSON.parse(await readFile(join(assets, `${name}-${version}.cdx.json`), "utf8"));
    expect(bom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name, version } } });
    return bom.components.map((component: { purl: string }) => component.purl.replace(/@[^@]+$/, ""));
  };
  const providerComponents = await components("pulumi-serverless-compute");
  expect(providerComponents).toEqual(
    expect.arrayContaining(["pkg:npm/serverless-compute-api", "pkg:npm/commander", "pkg:npm/zod", "pkg:npm/undici"]),
  );
  expect(await components("serverless-compute-local")).toEqual(
    expect.arrayContaining(["pkg:npm/fastify", "pkg:npm/libsql"]),
  );
  expect(providerComponents.filter((component) => /typescript|vitest|esbuild|fastify/.test(component))).toEqual([]);
});

it("a release contains the checksum of each file", async () => {
  const lines = (await readFile(join(assets, "SHA256SUMS"), "utf8")).trimEnd().split("\n");
  const componentNames = lines.map((line) => line.split("  "));
  expect(componentNames.map(([, name]) => name)).toEqual(
    (await readdir(assets)).filter((name) => name !== "SHA256SUMS").sort(),
  );
  for (const [sum, name = ""] of componentNames) {
    expect(
      createHash("sha256")
        .update(await readFile(join(assets, name)))
        .digest("hex"),
      name,
    ).toBe(sum);
  }
});

it.each(platforms)(
  "a release contains an archive for %s on %s with the files that the system starts",
  async (os, arch) => {
    const { code, stdout } = await run("tar", ["-tzf", join(assets, archive(os, arch))]);
    expect(code).toBe(0);
    const files = stdout.split("\n");
    expect(files).toEqual(
      expect.arrayContaining([
        "pulumi-resource-serverless-compute",
        "dist/plugin.js",
        "dist/deployment.js",
        "LICENSE",
        "THIRD-PARTY-NOTICES.txt",
      ]),
    );
    expect(files.includes("pulumi-resource-serverless-compute.cmd")).toBe(os === "windows");
  },
);

if (reason === undefined) {
  it("a release contains the compiled Node SDK, whose installation runs no script", async () => {
    const target = join(folder, "node-sdk");
    await mkdir(target);
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    const tarball = join(assets, `pulumi-serverless-compute-sdk-${version}.tgz`);
    expect((await run("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"])).code).toBe(0);
    const manifest = JSON.parse(await readFile(join(target, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      version,
      types: "bin/index.d.ts",
      pulumi: { name: "serverless-compute", version },
    });
    expect(manifest).not.toHaveProperty("scripts");
    expect(Object.keys(manifest.dependencies)).toEqual(["@pulumi/pulumi"]);
    const sdk: Record<string, unknown> = createRequire(join(target, "package.json"))(target);
    const { resources } = JSON.parse(await readFile(schema, "utf8"));
    const classes = Object.keys(resources).map((token) => token.replace(/^.*:/, ""));
    expect(classes.filter((name) => typeof sdk[name] !== "function")).toEqual([]);
  });
}

/** The CLI with a new home without plugins. */
async function pulumi(...args: string[]) {
  const env = {
    ...process.env,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // Otherwise the CLI looks the name up in the online registry.
    PULUMI_DISABLE_REGISTRY_RESOLVE: "true",
  };
  return run(inject("cli").command, args, { cwd: folder, timeout: 60_000, env });
}

/** Pulumi's name of this platform. */
const os = process.platform === "win32" ? "windows" : process.platform;
const arch = process.arch === "arm64" ? "arm64" : "amd64";

it("Pulumi finds a release by the plugin's name, and the installed plugin serves its schema", async () => {
  const requested: string[] = [];
  const server = createServer(async (request, response) => {
    const name = request.url?.slice(1) ?? "";
    requested.push(name);
    const file = (await readdir(assets)).includes(name) ? await readFile(join(assets, name)) : undefined;
    response.writeHead(file ? 200 : 404, { "content-length": file?.length ?? 0 }).end(file);
  });
  const origin = await listenOnLoopback(server);
  try {
    const installed = await pulumi("plugin", "install", "resource", "serverless-compute", version, "--server", origin);
    expect(installed.code, installed.stderr).toBe(0);
    expect(requested).toEqual([archive(os, arch)]);
    const served = await pulumi("package", "get-schema", `serverless-compute@${version}`);
    expect(served.code, served.stderr).toBe(0);
    expect(JSON.parse(served.stdout)).toMatchObject({ name: "serverless-compute", version });
  } finally {
    await closeServer(server);
  }
});

it("the release command rejects a folder that is not empty", async () => {
  await expect(makeReleaseAssets(assets)).rejects.toThrow("is not empty");
});
