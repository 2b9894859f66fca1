import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";

const compiler = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/** Compiles programs against the packed packages, by their file names. Returns the compiler's output. */
async function compile(programs: Record<string, string>): Promise<string> {
  const folder = join(inject("packed"), "types");
  await mkdir(folder);
  for (const [name, program] of Object.entries(programs)) await writeFile(join(folder, name), program);
  const options = {
    strict: true,
    noEmit: true,
    module: "node20",
    target: "es2022",
    types: ["node"],
    skipLibCheck: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  const { stdout, stderr } = await run(process.execPath, [compiler, "-p", folder], { timeout: 120_000 });
  return stdout + stderr;
}

it("a correct program compiles, and mistakes do not; the compiler suggests the intended property", async () => {
  const correct = `
    import * as pulumi from "@pulumi/pulumi";
    import { invokeJob, JobInvoke, NetworkVolume, Secret, ServerlessEndpoint, Template, type TemplateArgs } from "pulumi-serverless-compute";

    const token = new Secret("token", { value: new pulumi.Config().requireSecret("token") });
    const args: TemplateArgs = { imageName: "acme/chat:1", env: { TOKEN: token.reference } };
    const template = new Template("chat", args, { customTimeouts: { delete: "5m" } });
    const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
    const endpoint = new ServerlessEndpoint("chat", {
      templateId: template.id, networkVolumeId: volume.id, gpuTypeIds: ["NVIDIA L4"], scalerType: "REQUEST_COUNT",
    });
    const job = new JobInvoke("smoke", {
      endpointId: endpoint.id, input: { prompt: "ping", deep: [{ url: endpoint.url }] }, policy: { ttl: 60_000 },
      expect: { status: "COMPLETED", output: { text: "pong" } }, triggers: [template.revision, 1],
    });
    export const url: pulumi.Output<string> = endpoint.url;
    export const size: pulumi.Output<number> = volume.size;
    export const took: pulumi.Output<number | undefined> = job.executionTime;
    void invokeJob({ endpointId: "e", input: { prompt: "ping" } }).then(({ output }) => output);

    // @ts-expect-error a typo
    new Template("a", { imageName: "i", volumeInGB: 0 });
    // @ts-expect-error a required input is missing
    new Template("b", {});
    // @ts-expect-error a word that is not one of the allowed values
    new ServerlessEndpoint("c", { templateId: "t", scalerType: "REQUESTS" });
    // @ts-expect-error a text where a number belongs
    new NetworkVolume("d", { size: "10", dataCenterId: "EU-RO-1" });
    // @ts-expect-error a typo in a nested object
    new JobInvoke("e", { endpointId: "e", input: {}, policy: { timeToLive: 1 } });
    // @ts-expect-error an id is an option, not an input
    new Secret("f", { value: "v", id: "s" });
    // @ts-expect-error outputs cannot be set
    endpoint.url = url;
  `;
  const typo = `
    import { Template } from "pulumi-serverless-compute";
    new Template("a", { imageName: "i", volumeInGB: 0 });
  `;
  const output = await compile({ "correct.ts": correct, "typo.ts": typo });
  expect(output).toMatch(/^[^\n]*typo\.ts[^\n]*'volumeInGB' does not exist.* 'volumeInGb'\?\n$/);
});
