import { copyFileSync, existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliMissing, findCli } from "../../../scripts/cli/cli.mjs";
import { scratchFolder } from "../../support/folders";
import { unusedOrigin } from "../../support/loopback";
import { serve, serveRelease, version, writeCli, writeDynamicProvider, writeExecutable, writeGo } from "./fake-cli";

/** Options without any CLI: no PATH, an empty cache, an empty release server, no Go. */
async function emptyOptions() {
  const folder = scratchFolder();
  return {
    folder,
    path: join(folder, "on-path"),
    cacheFolder: join(folder, "versions"),
    downloadAddress: await serve((_request, response) => response.writeHead(404).end()),
    idleTimeout: 5_000,
    go: join(folder, "go"),
    env: { PATH: process.env["PATH"] },
    dynamicProvider: writeDynamicProvider(join(folder, "node_modules")),
  };
}

const binOf = (options: { cacheFolder: string }) => join(options.cacheFolder, version, "bin");

/** Cache entries other than finished versions; must be empty. */
const leftOvers = (options: { cacheFolder: string }) =>
  [...readdirSync(options.cacheFolder), ...readdirSync(join(options.cacheFolder, version))].filter(
    (name) => name !== version && name !== "bin",
  );

describe("if every attempt fails", () => {
  test("the error lists each attempt with its reason, and what to install", async () => {
    const options = await emptyOptions();
    const error = await findCli(options).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CliMissing);
    const lines = String(error instanceof Error && error.message).split("\n");
    expect(lines).toEqual([
      "No usable Pulumi CLI was found, and none could be set up:",
      "  - PATH: contains no pulumi",
      `  - cache: ${join(binOf(options), "pulumi")}: not there`,
      `  - download from ${options.downloadAddress}: ${options.downloadAddress}/pulumi-${version}-checksums.txt returned 404`,
      `  - build with Go: there is no \`${options.go}\` on PATH`,
      "Install Pulumi 3.200.0 or later (https://www.pulumi.com/docs/install/) so that `pulumi` is on PATH,",
      "or Go 1.25 or later (https://go.dev/dl/) with access to its modules, and try again.",
    ]);
    expect(leftOvers(options)).toEqual([]);
  });

  test("a missing CLI differs from a failed download or build", async () => {
    const isAbsent = async (change: object): Promise<unknown> => {
      const error = await findCli({ ...(await emptyOptions()), ...change }).catch((error: unknown) => error);
      return error instanceof CliMissing ? error.isAbsent : error;
    };
    expect(await isAbsent({})).toBe(true);
    expect(await isAbsent({ downloadAddress: await unusedOrigin() })).toBe(true);
    const go = join(scratchFolder(), "go");
    writeGo(go, { saying: "go1.22.4" });
    expect(await isAbsent({ go })).toBe(true);
    expect(await isAbsent({ downloadAddress: (await serveRelease({ damaged: true })).address })).toBe(false);
    writeExecutable(go, 'if [ "$1" = version ]; then echo "go version go1.26.0 x"; else exit 1; fi');
    expect(await isAbsent({ go })).toBe(false);
    writeExecutable(go, "exit 1");
    expect(await isAbsent({ go })).toBe(false);
  });

  test("a Go that is too old is named with its version", async () => {
    const options = await emptyOptions();
    writeGo(options.go, { saying: "go1.22.4" });
    await expect(findCli(options)).rejects.toThrow("build with Go: Go 1.22.4 is too old, 1.25 or later is needed");
  });

  test("a failed Go build shows the end of Go's output", async () => {
    const options = await emptyOptions();
    writeExecutable(
      options.go,
      'if [ "$1" = version ]; then echo "go version go1.26.0 x"; else echo "dial tcp: no such host" >&2; exit 1; fi',
    );
    await expect(findCli(options)).rejects.toThrow("`go get` of pulumi failed: dial tcp: no such host");
    expect(leftOvers(options)).toEqual([]);
  });

  test("an unusable cache folder is part of the error", async () => {
    const options = await emptyOptions();
    writeFileSync(join(options.folder, "file"), "");
    await expect(findCli({ ...options, cacheFolder: join(options.folder, "file", "versions") })).rejects.toThrow(
      "cache: cannot be created (ENOTDIR",
    );
  });
});

describe("on PATH", () => {
  test("a valid CLI is preferred to a cached CLI", async () => {
    const options = await emptyOptions();
    writeCli(options.path, "3.201.4");
    writeCli(binOf(options));
    expect(await findCli(options)).toEqual({
      command: join(options.path, "pulumi"),
      folder: options.path,
      version: "3.201.4",
      source: "path",
    });
  });

  test("a CLI that is too old, or lacks the Node host, is ignored", async () => {
    const options = await emptyOptions();
    writeCli(binOf(options));
    writeCli(options.path, "3.199.9");
    expect((await findCli(options)).source).toBe("cache");
    writeExecutable(join(options.folder, "alone", "pulumi"), `echo v${version}`);
    expect((await findCli({ ...options, path: join(options.folder, "alone") })).source).toBe("cache");
  });

  test("the host may be in another folder of PATH", async () => {
    const options = await emptyOptions();
    const withoutHost = join(options.folder, "alone");
    writeExecutable(join(withoutHost, "pulumi"), `echo v${version}`);
    writeCli(join(options.folder, "hosts"), "3.0.0");
    const result = await findCli({ ...options, path: `${withoutHost}:${join(options.folder, "hosts")}` });
    expect(result).toMatchObject({ folder: withoutHost, source: "path" });
  });
});

describe("in the cache", () => {
  test("a complete version is used without a download or Go", async () => {
    const { address, paths } = await serveRelease();
    const options = { ...(await emptyOptions()), downloadAddress: address };
    writeCli(binOf(options));
    expect(await findCli(options)).toMatchObject({ folder: binOf(options), source: "cache", version });
    expect(paths).toEqual([]);
  });

  test.each([
    ["a pulumi of another version", (bin: string) => writeExecutable(join(bin, "pulumi"), "echo v3.249.0")],
    ["a pulumi that fails", (bin: string) => writeExecutable(join(bin, "pulumi"), "exit 3")],
    ["an empty pulumi", (bin: string) => truncateSync(join(bin, "pulumi"))],
    ["a truncated host", (bin: string) => writeExecutable(join(bin, "pulumi-language-nodejs"), "kill -SEGV $$")],
    ["a host that is not a program", (bin: string) => writeFileSync(join(bin, "pulumi-language-nodejs"), "\u007fELF")],
  ])("%s is rebuilt", async (_what, damage) => {
    const { address } = await serveRelease();
    const options = { ...(await emptyOptions()), downloadAddress: address };
    writeCli(binOf(options));
    damage(binOf(options));
    expect((await findCli(options)).source).toBe("download");
    expect((await findCli(options)).source).toBe("cache");
    expect(leftOvers(options)).toEqual([]);
  });

  test("files of an interrupted installation are removed", async () => {
    const { address } = await serveRelease();
    const options = { ...(await emptyOptions()), downloadAddress: address };
    mkdirSync(join(options.cacheFolder, version, ".draft-old", "bin"), { recursive: true });
    await findCli(options);
    expect(leftOvers(options)).toEqual([]);
  });
});

describe("the official download", () => {
  test("is unpacked into the cache if its checksum matches", async () => {
    const { address } = await serveRelease();
    const options = { ...(await emptyOptions()), downloadAddress: address };
    expect(await findCli(options)).toEqual({
      command: join(binOf(options), "pulumi"),
      folder: binOf(options),
      version,
      source: "download",
    });
    expect(leftOvers(options)).toEqual([]);
  });

  test("is discarded if its checksum does not match, and Go builds instead", async () => {
    const { address } = await serveRelease({ damaged: true });
    const options = { ...(await emptyOptions()), downloadAddress: address };
    await expect(findCli(options)).rejects.toThrow("does not match its published checksum");
    expect(existsSync(binOf(options))).toBe(false);
    writeGo(options.go);
    expect((await findCli(options)).source).toBe("build");
  });

  test("fails if the server does not respond or stops in the middle", async () => {
    const options = { ...(await emptyOptions()), idleTimeout: 40 };
    const silentServer = await serve(() => {});
    await expect(findCli({ ...options, downloadAddress: silentServer })).rejects.toThrow(
      `no response from ${silentServer}/pulumi-${version}-checksums.txt within 0.04 s`,
    );
    const stalled = await serve((_request, response) => response.write("0000"));
    await expect(findCli({ ...options, downloadAddress: stalled })).rejects.toThrow("within 0.04 s");
  });

  test("reports an unreachable server in one line", async () => {
    const options = { ...(await emptyOptions()), downloadAddress: await unusedOrigin() };
    await expect(findCli(options)).rejects.toThrow(/download from http:.*: connect ECONNREFUSED .*\n/);
  });
});

describe("the build with Go", () => {
  test("builds the engine and the Node host from their modules, and adds the file for dynamic resources", async () => {
    const options = await emptyOptions();
    const calls = writeGo(options.go);
    expect(await findCli(options)).toMatchObject({ folder: binOf(options), source: "build", version });
    expect(readdirSync(binOf(options)).sort()).toEqual([
      "pulumi",
      "pulumi-language-nodejs",
      "pulumi-resource-pulumi-nodejs",
    ]);
    expect(calls().filter((call) => call.startsWith("get"))).toEqual([
      `get github.com/pulumi/pulumi/pkg/v3/cmd/pulumi@v${version}`,
      "get github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs@v3.68.0",
    ]);
    expect(leftOvers(options)).toEqual([]);
  });

  test("runs once for two concurrent requests", async () => {
    const options = await emptyOptions();
    const calls = writeGo(options.go, { takes: 0.05 });
    const result = await Promise.all([findCli(options), findCli(options), findCli(options)]);
    expect(result.map((cli) => cli.source).sort()).toEqual(["build", "cache", "cache"]);
    expect(calls().filter((call) => call.startsWith("build"))).toHaveLength(2);
  });

  test("runs while the npm packages are being installed, and requires them only at its end", async () => {
    const options = await emptyOptions();
    const dynamicProvider = join(options.folder, "installed-later");
    const calls = writeGo(options.go);
    const installed = async () => {
      const builds = () =>
        existsSync(`${options.go}.calls`) ? calls().filter((call) => call.startsWith("build")) : [];
      await expect.poll(builds).toHaveLength(2);
      copyFileSync(options.dynamicProvider, dynamicProvider);
    };
    const result = await findCli({ ...options, dynamicProvider, installed: installed() });
    expect(result).toMatchObject({ source: "build", version });
  });

  test("reports npm packages that are not installed yet", async () => {
    const options = await emptyOptions();
    writeGo(options.go);
    await expect(findCli({ ...options, dynamicProvider: join(options.folder, "absent") })).rejects.toThrow(
      "is missing from node_modules/@pulumi/pulumi: run npm ci first",
    );
  });
});
