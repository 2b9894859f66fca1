import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, inject, it } from "vitest";
import { lastLines, run } from "../../scripts/child.mjs";
import { generateSdk, type SdkLanguage } from "../../scripts/generate/sdks.mjs";
import { exampleTexts } from "../support/example-texts";
import { scratchFolder } from "../support/folders";
import { typeFaults } from "../support/type-check";
import { missingGo } from "./support/sdk";

const schemaPath = fileURLToPath(new URL("../../schema.json", import.meta.url));
/** Generators are built once, which takes minutes without a cache. */
const timeout = 600_000;

/**
 * Fetches the dependencies that programs in Java need with Maven. Returns the class paths of the compiler and of a running program,
 * which also contains the dependencies' own.
 */
async function dependenciesForJava(folder: string): Promise<{ compile: string; runtime: string }> {
  await mkdir(folder);
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
    <modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>programs</artifactId><version>1</version>
    <dependencies>
      <dependency><groupId>com.pulumi</groupId><artifactId>pulumi</artifactId><version>1.16.0</version></dependency>
      <dependency><groupId>com.google.code.findbugs</groupId><artifactId>jsr305</artifactId><version>3.0.2</version></dependency>
    </dependencies>
  </project>`;
  await writeFile(join(folder, "pom.xml"), pom);
  const classPath = async (scope: string): Promise<string> => {
    const options = [`-DincludeScope=${scope}`, `-Dmdep.outputFile=${scope}`];
    const args = ["--quiet", "--batch-mode", "dependency:build-classpath", ...options];
    const finished = await run("mvn", args, { cwd: folder, timeout });
    expect(finished.code, lastLines(finished)).toBe(0);
    return readFile(join(folder, scope), "utf8");
  };
  return { compile: await classPath("compile"), runtime: await classPath("runtime") };
}

/** Prints the version of the SDK, which each of its classes reads when it is loaded. */
const versionProgram = `public class Version {
  public static void main(String[] args) {
    System.out.println(com.pulumi.serverlesscompute.Utilities.getVersion());
  }
}`;

describe("the schema's examples match the generated SDKs", () => {
  const folder = scratchFolder(afterAll);

  const sdkOf = async (language: SdkLanguage): Promise<string | undefined> => {
    const generated = await generateSdk(language, { schema: schemaPath, target: folder, cli: inject("cli") });
    if ("folder" in generated) return generated.folder;
    console.warn(`Examples are not checked: ${generated.reason}`);
    return undefined;
  };

  /** Writes each example of a language to its own folder and returns their paths. */
  const written = async (language: string, name: string): Promise<string[]> => {
    const schema = JSON.parse(await readFile(schemaPath, "utf8"));
    const texts = exampleTexts(schema).filter((example) => example.language === language);
    const paths = texts.map((_, index) => join(folder, "programs", `${language}-${index}`));
    for (const [index, path] of paths.entries()) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, name), `${texts[index]?.text}\n`);
    }
    return paths.map((path) => join(path, name));
  };

  const go = (args: string[]) => run("go", args, { cwd: join(folder, "programs"), timeout });

  it(
    "in TypeScript",
    async ({ skip }) => {
      const sdk = await sdkOf("nodejs");
      if (sdk === undefined) return skip("there is no SDK");
      const { name } = JSON.parse(await readFile(join(sdk, "package.json"), "utf8"));
      const programs = await written("typescript", "index.ts");
      expect(programs.length).toBeGreaterThan(10);
      const modules = { [name]: join(sdk, "index.ts") };
      expect(await typeFaults(join(folder, "programs"), programs, modules)).toEqual([]);
      const invalid = join(folder, "programs", "wrong.ts");
      await writeFile(invalid, `import { Secret } from "${name}";\nnew Secret("token", { value: 1 });\n`);
      expect(await typeFaults(join(folder, "programs"), [invalid], modules)).toEqual([
        expect.stringContaining("'number' is not assignable"),
      ]);
    },
    timeout,
  );

  it(
    "in Go",
    async ({ skip }) => {
      const sdk = await sdkOf("go");
      const missing = await missingGo();
      if (sdk === undefined || missing) return skip(missing ?? "there is no SDK");
      const programs = await written("go", "main.go");
      expect(programs.length).toBeGreaterThan(10);
      const module = /^module (\S+)$/m.exec(await readFile(join(sdk, "go.mod"), "utf8"))?.[1];
      const lines = [
        "module programs",
        "",
        "go 1.25",
        "",
        `require ${module} v0.0.0`,
        "",
        `replace ${module} => ${sdk}`,
        "",
      ];
      await writeFile(join(folder, "programs", "go.mod"), lines.join("\n"));
      for (const args of [
        ["mod", "tidy"],
        ["vet", "./...", `${module}/...`],
      ]) {
        const { code, stdout, stderr } = await go(args);
        expect(code, `go ${args.join(" ")}:\n${stdout}${stderr}`).toBe(0);
      }
      const invalid = join(folder, "programs", "wrong");
      await mkdir(invalid);
      const [first = ""] = programs;
      await writeFile(
        join(invalid, "main.go"),
        (await readFile(first, "utf8")).replace(/pulumi\.String\("[^"]*"\)/, "1"),
      );
      expect((await go(["vet", "./wrong"])).stderr).toContain("cannot use 1");
    },
    timeout,
  );

  it(
    "in Java",
    async ({ skip }) => {
      const sdk = await sdkOf("java");
      const maven = await run("mvn", ["--version"], { timeout }).catch(() => undefined);
      if (sdk === undefined || maven?.code !== 0) return skip("there is no SDK, or no Maven");
      const programs = await written("java", "App.java");
      expect(programs.length).toBeGreaterThan(10);
      const { compile: classPath, runtime } = await dependenciesForJava(join(folder, "maven"));
      const classes = join(folder, "classes");
      const javac = (files: string[], path: string[]) =>
        run("javac", ["-nowarn", "-proc:none", "-d", classes, "-cp", path.join(delimiter), ...files], {
          timeout,
        });
      const sources = (await readdir(sdk, { recursive: true })).filter((file) => file.endsWith(".java"));
      const compiledPackage = await javac(
        sources.map((file) => join(sdk, file)),
        [classPath],
      );
      expect(compiledPackage.code, lastLines(compiledPackage)).toBe(0);
      const program = join(folder, "Version.java");
      await writeFile(program, versionProgram);
      const running = [runtime, classes, join(sdk, "src", "main", "resources")].join(delimiter);
      const printed = await run("java", ["-cp", running, program], { timeout });
      expect(printed.stdout.trim(), lastLines(printed)).toBe(JSON.parse(await readFile(schemaPath, "utf8")).version);
      // Every example has the class App, so each has a separate package.
      for (const [index, program] of programs.entries())
        await writeFile(program, `package example${index};\n${await readFile(program, "utf8")}`);
      const compiled = await javac(programs, [classPath, classes]);
      expect(compiled.code, lastLines(compiled, 20)).toBe(0);
      const [first = ""] = programs;
      await writeFile(first, (await readFile(first, "utf8")).replace(/imageName\("[^"]*"\)/, "imageName(1)"));
      expect((await javac([first], [classPath, classes])).stderr).toContain("int cannot be converted");
    },
    timeout,
  );
});
