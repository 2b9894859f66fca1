import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { isAlive, lastLines } from "../../scripts/child.mjs";
import { repository } from "../plugin/support/sdk";
import { registerSecret } from "../support/secret-scan";
import { discardServiceFolder } from "../support/service-artefacts";
import { type CleanRoom, codeOf, createCleanRoom } from "./support/clean-room";
import { compilers, compilersOf, forms, programAs, resolutions } from "./support/consumers";
import { findNode } from "./support/node";

/** The lowest Node version that the packages allow, and the next LTS versions. */
const pinned = ["20.19.0", "22.23.3", "24.21.0"];

/** The newest release of Pulumi's SDK, which requires Node 22. */
const newestPulumi = "3.276.0";
const installations = await Promise.all(
  pinned.map(async (version) => ({ version, installations: await findNode(version) })),
);
const runtimes = installations.map(({ version, installations }) => {
  if ("reason" in installations)
    console.warn(`The packages are not installed under Node ${version}: ${installations.reason}.`);
  return "reason" in installations ? { version, node: "" } : { version, node: installations.command };
});
// The Node of this run replaces an unavailable one, and is an additional row if its version differs.
const lineOf = (version: string): string => version.replace(/\..*/, "");
if (!runtimes.some(({ version, node }) => node !== "" && lineOf(version) === lineOf(process.versions.node))) {
  runtimes.push({ version: process.versions.node, node: process.execPath });
}

const addressesShape = z.object({
  url: z.string(),
  baseUrl: z.string(),
  graphqlUrl: z.string(),
  serverlessUrl: z.string(),
  apiKeyFile: z.string(),
  pid: z.number(),
});
const manifestShape = z.object({ devDependencies: z.record(z.string(), z.string()) });
const hubToken = "hub-token-of-the-clean-room";

/** Fails with the output of a failed command. */
async function runChecked(
  room: CleanRoom,
  command: string,
  args: string[],
  env?: Record<string, string>,
): Promise<string> {
  const result = await room.run(command, args, env);
  expect(result.code, `${command} ${args.join(" ")}\n${lastLines(result, 40)}`).toBe(0);
  return result.stdout;
}

/** Starts the service installed in the room. */
async function startLocalService(room: CleanRoom, node: string, ...more: string[]) {
  const command = join("node_modules", ".bin", "serverless-compute-local");
  const args = [command, "start", "--port", "0", "--json", "--data", "data", ...more];
  const child = spawn(node, args, { cwd: room.folder, env: room.env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const early = ended.then(() => {
    throw new Error("the service ended before its first line");
  });
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), early]);
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  const addresses = addressesShape.parse(JSON.parse(String(line)));
  const apiKey = (await readFile(addresses.apiKeyFile, "utf8")).trim();
  registerSecret(apiKey, "the API key");
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  return { ...addresses, apiKey, headers, stop };
}

describe.each(runtimes.map(({ version, node }) => [version, node] as const))("under Node %s", (version, node) => {
  describe.skipIf(node === "")("an empty folder with the packages", () => {
    let room: CleanRoom;
    beforeAll(async () => {
      room = await createCleanRoom(node);
    });
    afterAll(async () => {
      // Undefined if an earlier step failed.
      const data = join(room.folder, "data");
      if (existsSync(data)) await discardServiceFolder(data).finally(room.remove);
      else await room.remove();
    });

    it("installs them with --engine-strict and all dependencies", async () => {
      expect((await runChecked(room, "node", ["-v"])).trim()).toBe(`v${version}`);
      const { devDependencies } = manifestShape.parse(
        JSON.parse(await readFile(join(repository, "package.json"), "utf8")),
      );
      const pulumi = version.startsWith("20.") ? devDependencies["@pulumi/pulumi"] : newestPulumi;
      const others = [`@pulumi/pulumi@${pulumi}`, `@types/node@${devDependencies["@types/node"]}`];
      others.push(...compilers.map(({ folder, version }) => `${folder}@npm:typescript@${version}`));
      await room.write("package.json", '{ "name": "clean", "private": true }\n');
      const flags = ["--engine-strict", "--prefer-offline", "--no-audit", "--no-fund"];
      await runChecked(room, "npm", ["install", ...flags, ...inject("tarballs"), ...others]);
      // Reports invalid, extraneous and missing packages.
      const { code, stdout, stderr } = await room.run("npm", ["ls", "--all"]);
      expect(
        code,
        `${stdout}${stderr}`
          .split("\n")
          .filter((line) => /ERR|invalid|extraneous|UNMET DEP/i.test(line))
          .join("\n"),
      ).toBe(0);
      expect(stdout).not.toMatch(/invalid|extraneous|UNMET DEPENDENCY/);
    });

    it("loads every entry point of every package, by require and by import", async () => {
      await room.write(
        "entries.mjs",
        `import { createRequire } from "node:module";
         const require = createRequire(import.meta.url);
         for (const name of ["serverless-compute-api", "pulumi-serverless-compute", "serverless-compute-local"]) {
           const { exports } = require(name + "/package.json");
           for (const entry of Object.keys(exports).filter((one) => !one.endsWith(".json"))) {
             const required = require(name + entry.slice(1));
             const imported = await import(name + entry.slice(1));
             const lost = Object.keys(required).filter((key) => !(key in imported));
             if (Object.keys(required).length === 0 || lost.length > 0) throw new Error(name + entry + ": " + lost);
           }
         }`,
      );
      await runChecked(room, "node", ["entries.mjs"]);
    });

    it("contains a plugin that the engine can start", async () => {
      const plugin = join("node_modules", "pulumi-serverless-compute", "bin", "pulumi-resource-serverless-compute");
      const output = JSON.parse(await runChecked(room, "pulumi", ["package", "get-schema", `./${plugin}`]));
      const { name, version, resources } = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
      expect(output).toMatchObject({ name, version });
      expect(Object.keys(output.resources).sort()).toEqual(Object.keys(resources).sort());
    });

    // Once, because types are the same under every Node.
    const first = runtimes.find((runtime) => runtime.node !== "");
    if (version === first?.version)
      it.each(resolutions)(
        "compiles the programs of the READMEs under every compiler, with $resolution resolution",
        async (runtime) => {
          const readme = await codeOf("README.md");
          const files = { ...runtime.readme(readme), [runtime.provider]: await codeOf("provider/README.md") };
          const all: Record<string, string> = { ...files, [runtime.clients]: await codeOf("api/README.md") };
          for (const [name, text] of Object.entries(all)) await room.write(name, text);
          for (const { folder, version: compiler, checksLibraries } of compilersOf(runtime.resolution)) {
            const config = `tsconfig-${runtime.resolution}-${compiler}.json`;
            const compilerOptions = {
              strict: true,
              noEmit: true,
              target: "es2022",
              types: ["node"],
              module: runtime.module,
              moduleResolution: runtime.resolution,
              esModuleInterop: true,
              skipLibCheck: !checksLibraries || runtime.resolution === "bundler",
            };
            await room.write(config, JSON.stringify({ compilerOptions, files: Object.keys(all) }));
            const tsc = join("node_modules", folder, "bin", "tsc");
            expect(await runChecked(room, "node", [tsc, "-v"])).toBe(`Version ${compiler}\n`);
            await runChecked(room, "node", [tsc, "-p", config]);
          }
        },
      );

    // Each Node deploys a different form of the program first; every form runs under every Node.
    const firstForm = runtimes.findIndex((runtime) => runtime.version === version) % forms.length;
    const [deployed, ...others] = [...forms.slice(firstForm), ...forms.slice(0, firstForm)];
    it(`starts the service and deploys the README's program (${deployed?.file}) against it, from create to destroy`, async () => {
      const text = await codeOf("README.md");
      for (const { file, module } of forms) await room.write(file, programAs(text, module));
      await room.write(
        "handler.mjs",
        'export default ({ input }) => ({ text: input.prompt === "ping" ? "pong" : "pardon?" });\n',
      );
      const image = "ghcr.io/acme/chat:1.4.2=./handler.mjs";
      const service = await startLocalService(room, node, "--template-release", "0", "--image", image);
      try {
        const { url: serviceUrl, baseUrl, apiKey, headers } = service;
        registerSecret(hubToken, "the hub token");
        const env = {
          SERVERLESS_COMPUTE_API_KEY: apiKey,
          SERVERLESS_COMPUTE_URL: serviceUrl,
        };
        const pulumi = (...args: string[]) => runChecked(room, "pulumi", [...args, "--non-interactive"], env);
        const use = (file = "") => room.write("Pulumi.yaml", `name: clean\nruntime: nodejs\nmain: ${file}\n`);
        await use(deployed?.file);
        await pulumi("stack", "init", "dev");
        await pulumi("config", "set", "--secret", "hubToken", hubToken);
        const output = await pulumi("up", "--yes", "--skip-preview");
        expect(output).not.toContain(hubToken);
        const { url } = JSON.parse(await pulumi("stack", "output", "--json"));
        const response = await fetch(`${url}/runsync`, {
          method: "POST",
          headers,
          body: '{"input":{"prompt":"ping"}}',
        });
        expect(await response.json()).toMatchObject({ status: "COMPLETED", output: { text: "pong" } });
        for (const { file } of others) {
          await use(file);
          expect(await pulumi("preview", "--expect-no-changes"), file).toContain("unchanged");
        }
        await pulumi("destroy", "--yes", "--skip-preview");
        const remaining = await fetch(`${baseUrl}/templates`, { headers });
        expect(await remaining.json()).toEqual([]);
      } finally {
        await service.stop();
      }
      // The service logged its end, so it was not killed.
      expect(await readFile(join(room.folder, "data", "service.log"), "utf8")).toMatch(/"msg":"stopped"\}\s*$/);
    });

    it("stops the service when npx is stopped, although npx signals only its shell", async () => {
      const args = ["serverless-compute-local", "start", "--port", "0", "--json", "--data", "data"];
      const npx = spawn("npx", args, { cwd: room.folder, env: room.env, stdio: ["ignore", "pipe", "ignore"] });
      const [line] = await once(createInterface({ input: npx.stdout }), "line");
      const { pid, serverlessUrl } = addressesShape.parse(JSON.parse(String(line)));
      expect(isAlive(pid)).toBe(true);
      npx.kill("SIGTERM");
      await expect.poll(() => isAlive(pid)).toBe(false);
      await expect(fetch(serverlessUrl)).rejects.toThrow("fetch failed");
    });

    it("runs TypeScript handlers if Node strips types, and otherwise names the requirement", async () => {
      const stripsTypes =
        (await runChecked(room, "node", ["-p", "Boolean(process.features.typescript)"])).trim() === "true";
      await room.write("typed.ts", "export default ({ input }: { input: { n: number } }): number => input.n + 1;\n");
      const service = await startLocalService(room, node, "--image", "typed:1=./typed.ts");
      const { baseUrl, serverlessUrl, headers } = service;
      const create = async (path: string, json: object): Promise<string> => {
        const response = await fetch(`${baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify(json) });
        return z.object({ id: z.string() }).parse(await response.json()).id;
      };
      try {
        const templateId = await create("/templates", { name: "typed", imageName: "typed:1", isServerless: true });
        const endpoint = `${serverlessUrl}/v2/${await create("/endpoints", { name: "typed", templateId, workersMin: 1 })}`;
        if (stripsTypes) {
          const response = await fetch(`${endpoint}/runsync`, { method: "POST", headers, body: '{"input":{"n":41}}' });
          expect(await response.json()).toMatchObject({ status: "COMPLETED", output: 42 });
        } else {
          const health = async () => (await fetch(`${endpoint}/health`, { headers })).text();
          await expect.poll(health).toContain("npm install tsx");
        }
      } finally {
        await service.stop();
      }
    });
  });
});
