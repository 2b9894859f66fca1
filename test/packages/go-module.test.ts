import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { tagGoModule } from "../../scripts/release/go-module.mjs";
import { missingGo } from "../plugin/support/sdk";
import { scratchFolder } from "../support/folders";
import { runChecked } from "../support/run-checked";

const missingTool = await missingGo();
if (missingTool !== undefined) console.warn(`Nothing gets the tagged Go module: ${missingTool}.`);

const host = "https://github.com/acme-gpu/compute";
const module = "github.com/acme-gpu/compute/sdk/go/serverlesscompute";

const folder = scratchFolder(afterAll);

if (missingTool === undefined) {
  it("a release's Go SDK is found by `go get` at its tag, and is on no branch", async () => {
    const repository = join(folder, "repository");
    const sdk = join(folder, "sdk");
    await mkdir(repository);
    await mkdir(join(sdk, "config"), { recursive: true });
    await writeFile(join(sdk, "go.mod"), `module ${module}\n\ngo 1.25\n`);
    await writeFile(join(sdk, "doc.go"), 'package serverlesscompute\n\nconst Version = "1.2.3"\n');
    await writeFile(join(sdk, "config", "config.go"), "package config\n");
    const git = (...args: string[]) => runChecked("git", args, { cwd: repository });
    await git("init", "--quiet", "--initial-branch", "main");
    await git("config", "user.name", "Test");
    await git("config", "user.email", "test@acme.example");
    await git("config", "commit.gpgsign", "false");
    await writeFile(join(repository, ".gitignore"), "sdk/\n");
    await git("add", ".gitignore");
    await git("commit", "--quiet", "-m", "Begin the repository");
    await git("tag", "v1.2.3");

    expect(await tagGoModule(sdk, "v1.2.3", repository)).toBe("sdk/go/serverlesscompute/v1.2.3");
    expect(await git("branch", "--all", "--contains", "sdk/go/serverlesscompute/v1.2.3")).toBe("");
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("worktree", "list")).not.toContain("\n/");

    const program = join(folder, "program");
    await mkdir(program);
    await writeFile(
      join(program, "main.go"),
      `package main\n\nimport sc "${module}"\n\nfunc main() { println(sc.Version) }\n`,
    );
    // Git reads the local repository in place of the code host.
    const env = {
      GOPROXY: "direct",
      GONOSUMDB: "*",
      GOPRIVATE: "*",
      GOWORK: "off",
      GOTOOLCHAIN: "local",
      GOFLAGS: "-modcacherw",
      GOMODCACHE: join(folder, "modules"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `url.file://${repository}.insteadOf`,
      GIT_CONFIG_VALUE_0: host,
    };
    const go = (...args: string[]) => runChecked("go", args, { cwd: program, env });
    await go("mod", "init", "program");
    await go("get", `${module}@v1.2.3`);
    const modules = await go("list", "-f", "{{.ImportPath}}", `${module}/...`);
    expect(modules.split("\n")).toEqual([module, `${module}/config`]);
    await go("vet", "./...");
  });
}
