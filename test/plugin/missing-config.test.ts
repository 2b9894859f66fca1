import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createCleanRoom } from "../packages/support/clean-room";
import { repository } from "./support/sdk";

it("a deployment without the declared values fails before its program starts, and names them", async () => {
  const room = await createCleanRoom(process.execPath);
  onTestFinished(room.remove);
  // No program exists: the CLI must not look for one.
  await room.write("Pulumi.yaml", await readFile(join(repository, "examples/private-registry/Pulumi.yaml"), "utf8"));
  expect((await room.run("pulumi", ["stack", "init", "dev", "--non-interactive"])).code).toBe(0);
  const { code, stdout, stderr } = await room.run("pulumi", ["preview", "--non-interactive"]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/Stack 'dev' is missing configuration values? /);
  for (const key of ["registryPassword", "registryUser"]) expect(stderr).toContain(`'${key}'`);
  expect(stdout).not.toContain("Previewing");
});
