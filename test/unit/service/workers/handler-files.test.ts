import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { handlerFileOf, watchHandlerFiles } from "../../../../service/workers/handler-files";
import { askUntil, at, send, stringAt } from "../../../support/raw-http";
import { makeEndpoint, useConsoleService } from "../console/support/console-rig";

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "handlers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("the handler file of an image is its command when that is a file alone", () => {
  const images = { "a:1": "/h/a.mjs", b: "/h/b.ts", c: "node c.mjs", d: "'", e: "python3" };
  expect(["a:1", "b:7", "c", "d", "e", "f"].map((image) => handlerFileOf(images, image))).toEqual([
    "/h/a.mjs",
    "/h/b.ts",
    ...[undefined, undefined, undefined, undefined],
  ]);
});

test("an image that is named like a property of every object has no handler file", () => {
  for (const image of ["constructor", "toString:1", "__proto__"]) expect(handlerFileOf({}, image)).toBeUndefined();
});

test("an image name of a million characters is read in a moment", () => {
  const started = performance.now();
  for (const mark of ["@", ":"]) handlerFileOf({ a: "b" }, `${mark.repeat(1_000_000)}/a`);
  expect(performance.now() - started).toBeLessThan(1000);
});

describe("a watched handler file", () => {
  function watched() {
    const folder = folderOf();
    const [one, other] = [join(folder, "one.mjs"), join(folder, "other.mjs")];
    for (const file of [one, other]) writeFileSync(file, "1");
    const saved: string[] = [];
    const watch = watchHandlerFiles({ one, other, command: "node x.mjs", gone: "/nowhere/x.mjs" }, (file) =>
      saved.push(file),
    );
    onTestFinished(() => watch.close());
    return { folder, one, other, saved };
  }

  test("is said to be saved when its content has changed, once for a save in several steps", async () => {
    const { folder, one, other, saved } = watched();
    writeFileSync(one, "");
    writeFileSync(one, "2");
    writeFileSync(join(folder, "beside.mjs"), "2");
    await expect.poll(() => saved).toEqual([one]);
    writeFileSync(`${other}.tmp`, "2");
    renameSync(`${other}.tmp`, other);
    await expect.poll(() => saved).toEqual([one, other]);
  });

  test("is not said to be saved when it is written with what it held", async () => {
    const { one, other, saved } = watched();
    writeFileSync(one, "1");
    writeFileSync(other, "2");
    await expect.poll(() => saved).toEqual([other]);
  });
});

test("start --watch: workers go on with their job when their handler is saved, the next one runs the new one, and the logs say so", async () => {
  const file = join(folderOf(), "handler.mjs");
  const until = join(folderOf(), "until");
  const handler = (version: number): string => `import { existsSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    export default async ({ input }) => {
      while (input.until && !existsSync(input.until)) await setTimeout(10);
      return { version: ${version} };
    };`;
  writeFileSync(file, handler(1));
  const service = await useConsoleService({ images: { "acme/versions": file }, watch: true, logLevel: "info" });
  const { apiKey: key, serverlessUrl, dataFolder } = service;
  const id = await makeEndpoint(service, "acme/versions:1");
  const jobs = `${serverlessUrl}/v2/${id}`;
  const run = async (input: object) => stringAt(await send("POST", `${jobs}/run`, { key, json: { input } }), "id");
  const record = (job: string) => send("GET", `${jobs}/status-sync/${job}?wait=30000`, { key });
  const long = await run({ until });
  await askUntil(
    () => send("GET", `${jobs}/status/${long}`, { key }),
    ({ json }) => at(json, "status") === "IN_PROGRESS",
  );
  writeFileSync(file, handler(2));
  const log = (path: string) => readFile(join(dataFolder, path), "utf8");
  const why = `${file} was saved: its workers restart after their jobs`;
  await expect.poll(() => log(`logs/${id}.log`)).toContain(why);
  expect(await log("service.log")).toContain(why);
  const next = await run({});
  writeFileSync(until, "");
  expect(at((await record(long)).json, "output", "version"), "the job that ran meanwhile").toBe(1);
  expect(at((await record(next)).json, "output", "version"), "the next job").toBe(2);
  expect(at((await record(next)).json, "retries")).toBeUndefined();
});
