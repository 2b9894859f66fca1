import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { createCleanRoom } from "../packages/support/clean-room";
import { repository } from "./support/sdk";

/** Programs of the repository whose stacks require values: folder of Pulumi.yaml, folder of the program, and the values. */
const programs = [
  { project: ".", program: "examples/quickstart", secrets: ["hubToken"], values: [] },
  { project: "examples/private-registry", secrets: ["registryPassword"], values: ["registryUser"] },
  { project: "examples/python", secrets: ["hubToken"], values: [] },
  { project: "examples/two-accounts", secrets: ["eastKey", "westKey"], values: [] },
  { project: "examples/typescript-plugin", secrets: ["hubToken"], values: [] },
];

it.each(programs)(
  "a deployment of $project without the values it requires fails before its program starts",
  async ({ project, program = project, secrets, values }) => {
    const settings = await readFile(join(repository, project, "Pulumi.yaml"), "utf8");
    const declared = Object.entries<{ secret?: boolean }>(parse(settings).config ?? {});
    expect(declared.map(([key]) => key).sort()).toEqual([...secrets, ...values].sort());
    for (const [key, { secret = false }] of declared) expect(secret, key).toBe(secrets.includes(key));

    const room = await createCleanRoom(process.execPath);
    onTestFinished(room.remove);
    // Without a program: the CLI must fail before it looks for one.
    await cp(join(repository, project, "Pulumi.yaml"), join(room.folder, "Pulumi.yaml"));
    expect((await room.run("pulumi", ["stack", "init", "dev", "--non-interactive"])).code).toBe(0);
    const { code, stdout, stderr } = await room.run("pulumi", ["preview", "--non-interactive"]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/Stack 'dev' is missing configuration values? /);
    for (const key of [...secrets, ...values]) expect(stderr).toContain(`'${key}'`);
    expect(stdout).not.toContain("Previewing");

    // The quickstart's script sets the value.
    if (project === ".") return;
    const readme = await readFile(join(repository, program, "README.md"), "utf8");
    for (const key of secrets) expect(readme).toContain(`pulumi config set --secret ${key}`);
    for (const key of values) expect(readme).toContain(`pulumi config set ${key}`);
  },
);
