import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { program, useFolder } from "./command";

const isRoot = process.getuid?.() === 0;
const folder = useFolder();

/** Creates a temporary folder for the user of the programs. */
function temporaryFolder(name: string): string {
  chmodSync(folder, 0o755);
  const path = join(folder, name);
  mkdirSync(path);
  chmodSync(path, 0o777);
  return path;
}

/** The paths in the data folder of an ephemeral service, and "" for the folder itself. */
const remainsIn = (parent: string): string[] =>
  readdirSync(parent, { recursive: true, encoding: "utf8" })
    .filter((path) => path.startsWith("serverless-compute-local-"))
    .map((path) => path.replace(/^[^/]*\/?/, ""))
    .sort();

test.each([
  ["folders that their owner may not change", 65534, 0o555, false],
  ["files of another user", 0, 0o755, true],
])("the end of an ephemeral service deletes its data beside %s", async (_what, owner, mode, remains) => {
  const parent = temporaryFolder(`${owner}`);
  const service = program(
    "test/unit/service/cli/programs/as-user.ts",
    ["start", "--port", "0", "--ephemeral", "--json"],
    {
      TMPDIR: parent,
    },
  );
  const { apiKeyFile } = z.object({ apiKeyFile: z.string() }).parse(JSON.parse(await service.firstLine()));
  const data = dirname(apiKeyFile);
  const cache = join(data, "volumes");
  mkdirSync(cache);
  writeFileSync(join(cache, "module.go"), "");
  if (isRoot) for (const path of [join(cache, "module.go"), cache]) chownSync(path, owner, owner);
  chmodSync(cache, mode);
  service.child.kill("SIGTERM");
  const { code, stderr } = await service.ended;
  expect(code).toBe(0);
  // Without root, no file is another user's.
  const expected = remains && isRoot;
  expect(stderr.includes(`${data}: cannot be deleted (EACCES); delete it as the owner of its files`)).toBe(expected);
  expect(remainsIn(parent)).toEqual(expected ? ["", "volumes", "volumes/module.go"] : []);
});

test("a program that ends without a stop deletes the store and the key of its ephemeral service", async () => {
  const parent = temporaryFolder("exit");
  const { ended } = program("test/unit/service/cli/programs/exiting.ts", [], { TMPDIR: parent });
  expect(await ended).toMatchObject({ code: 0, stderr: "" });
  expect(remainsIn(parent).filter((name) => !/^(?:volumes.*)?$/.test(name))).toEqual([]);
});
