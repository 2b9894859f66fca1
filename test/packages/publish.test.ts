import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import { publishPackages } from "../../scripts/release/publish.mjs";
import { scratchFolder } from "../support/folders";
import { closeServer, listenOnLoopback } from "../support/loopback";

const publicationShape = z.looseObject({
  name: z.string(),
  versions: z.record(z.string(), z.looseObject({ name: z.string(), version: z.string() })),
  _attachments: z.record(z.string(), z.object({ data: z.string() })),
});
type Publication = z.output<typeof publicationShape>;

/** Requests of `npm publish` to this file's registry, in order; the registry is otherwise empty. */
const published: Publication[] = [];
const server = createServer((request, response) => {
  const respond = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const segments: Buffer[] = [];
  request.on("data", (part: Buffer) => segments.push(part));
  request.on("end", () => {
    const name = decodeURIComponent((request.url ?? "").slice(1));
    const existing = published.find((request) => request.name === name);
    if (request.method !== "PUT") return existing ? respond(200, existing) : respond(404, { error: "not found" });
    published.push(publicationShape.parse(JSON.parse(Buffer.concat(segments).toString())));
    return respond(201, { ok: true });
  });
});

const folder = scratchFolder(afterAll);
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  for (const tarball of inject("tarballs")) await cp(tarball, join(folder, basename(tarball)));
  const origin = await listenOnLoopback(server);
  await writeFile(
    join(folder, "npmrc"),
    `registry=${origin}/\n${origin.replace("http:", "")}/:_authToken=of-this-test\n`,
  );
  // With its own cache, because the machine's may contain responses of an earlier registry on the same port.
  // Silent, like npm in CI.
  const settings = {
    loglevel: "silent",
    userconfig: join(folder, "npmrc"),
    registry: `${origin}/`,
    cache: join(folder, "cache"),
  };
  const toVariables = Object.entries(settings).map(([key, value]) => [`npm_config_${key}`, value]);
  env = { ...process.env, ...Object.fromEntries(toVariables) };
});
afterAll(() => closeServer(server));

const order = ["serverless-compute-api", "pulumi-serverless-compute", "serverless-compute-local"];
const resultsOf = async (flags: string[]) =>
  (await publishPackages(folder, { flags, env })).map(({ file, done }) => [file.replace(/-\d.*/, ""), done]);

if (process.env["FULL"])
  it("a dry run packs and checks every package, and publishes none", async () => {
    expect(await resultsOf(["--dry-run"])).toEqual(order.map((name) => [name, "published"]));
    expect(published).toEqual([]);
  });

it("publishes each package after its dependencies, byte for byte as packed", async () => {
  expect(await resultsOf([])).toEqual(order.map((name) => [name, "published"]));
  expect(published.map(({ name }) => name)).toEqual(order);
  for (const { name, versions, _attachments } of published) {
    const [version = ""] = Object.keys(versions);
    const [attachment] = Object.values(_attachments);
    const packed = await readFile(join(folder, `${name}-${version}.tgz`));
    expect(Buffer.from(attachment?.data ?? "", "base64").equals(packed), name).toBe(true);
  }
});

it("skips versions that already exist, so that an interrupted release can be rerun", async () => {
  expect(await resultsOf([])).toEqual(order.map((name) => [name, "there already"]));
  expect(published).toHaveLength(order.length);
});

it("publishes nothing if a package is missing", async () => {
  const missingPackage = basename(inject("tarballs")[2] ?? "");
  published.length = 0;
  await rm(join(folder, missingPackage));
  await expect(resultsOf([])).rejects.toThrow(`${folder} has no ${missingPackage}; nothing is published`);
  expect(published).toEqual([]);
});

it("the command rejects an unknown flag", async () => {
  const script = fileURLToPath(new URL("../../scripts/release/publish.mjs", import.meta.url));
  const { code, stderr } = await run(process.execPath, [script, folder, "--dryrun"], { env });
  expect(code).not.toBe(0);
  expect(stderr).toContain("'--dryrun'");
  expect(published).toEqual([]);
});
