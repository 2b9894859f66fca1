import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../../../support/folders";
import { command } from "./terminal";

/** A recorded `pulumi preview --json --show-sames`: `chat` changes from 3 to 5 workers, `models` from 100 to 200 GB. */
const recorded = fileURLToPath(new URL("../../../fixtures/previews/costs.json", import.meta.url));

const prices = {
  gpus: { "NVIDIA L4": 0.69, "NVIDIA A40": 1.22 },
  cpus: { cpu3c: 0.05 },
  volumes: { STANDARD: 0.07 },
};

const folder = scratchFolder(afterAll);
async function fileWith(content: unknown): Promise<string> {
  const file = join(folder, "content.json");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const estimate = async (...args: string[]) =>
  command(["estimate", "--prices", await fileWith(prices), ...args, recorded]);

/** The recorded preview, changed. */
function changedPreview(change: (inputs: Record<string, unknown>, name: string) => void): string {
  const preview = JSON.parse(readFileSync(recorded, "utf8"));
  for (const { urn, newState } of preview.steps) change(newState.inputs, urn.slice(urn.lastIndexOf("::") + 2));
  return JSON.stringify(preview);
}

describe("estimate with a file of prices", () => {
  // Expected: chat 2 GPUs × 0.69 = 1.38 per worker; vision the more expensive of two types, 1.22; cpu 4 × 0.05 = 0.20; models 200 × 0.07.
  test("table: computes workersMin and workersMax per hour and month, and the change", async () => {
    const { code, out, err } = await estimate();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatchInlineSnapshot(`
      "Cost of dev in US dollars; a month has 730 hours.

      resource                   quantity        workersMin/hour  workersMax/hour  workersMin/month  workersMax/month  change of workersMax/month
      any ServerlessEndpoint     0 to 2 workers                ?                ?                 ?                 ?                           ?
      chat ServerlessEndpoint    1 to 5 workers            1.380            6.900           1007.40           5037.00                    +2014.80
      cpu ServerlessEndpoint     0 to 2 workers            0.000            0.400              0.00            292.00                       +0.00
      models NetworkVolume       200 GB                    0.019            0.019             14.00             14.00                       +7.00
      vision ServerlessEndpoint  0 to 2 workers            0.000            2.440              0.00           1781.20                       +0.00
      total                                                1.399            9.759           1021.40           7124.20                    +2021.80

      Unknown, and not in the total:
      - ServerlessEndpoint "any": gpuTypeIds is empty, so the service chooses"
    `);
  });

  test("markdown: is the same table", async () => {
    expect((await estimate("--format", "markdown")).out).toMatchInlineSnapshot(`
      "### Cost of dev in US dollars; a month has 730 hours.

      | resource | quantity | workersMin/hour | workersMax/hour | workersMin/month | workersMax/month | change of workersMax/month |
      | --- | --- | ---: | ---: | ---: | ---: | ---: |
      | any ServerlessEndpoint | 0 to 2 workers | ? | ? | ? | ? | ? |
      | chat ServerlessEndpoint | 1 to 5 workers | 1.380 | 6.900 | 1007.40 | 5037.00 | +2014.80 |
      | cpu ServerlessEndpoint | 0 to 2 workers | 0.000 | 0.400 | 0.00 | 292.00 | +0.00 |
      | models NetworkVolume | 200 GB | 0.019 | 0.019 | 14.00 | 14.00 | +7.00 |
      | vision ServerlessEndpoint | 0 to 2 workers | 0.000 | 2.440 | 0.00 | 1781.20 | +0.00 |
      | total |  | 1.399 | 9.759 | 1021.40 | 7124.20 | +2021.80 |

      Unknown, and not in the total:
      - ServerlessEndpoint "any": gpuTypeIds is empty, so the service chooses"
    `);
  });

  test("json: contains the costs before and after the deployment", async () => {
    const report = JSON.parse((await estimate("--format", "json")).out);
    expect(report.resources).toContainEqual({
      resource: "chat",
      kind: "ServerlessEndpoint",
      quantity: "1 to 5 workers",
      before: { min: expect.closeTo(1.38), max: expect.closeTo(4.14) },
      after: { min: expect.closeTo(1.38), max: expect.closeTo(6.9) },
    });
    expect(report.total.after.max).toBeCloseTo(6.9 + 0.4 + 2.44 + 14 / 730);
    expect(report.unknown).toHaveLength(1);
  });

  test("the exit code is 3 above the budget, and also while a cost is unknown", async () => {
    expect(await estimate("--max-hourly", "9.75")).toMatchObject({
      code: 3,
      err: "9.759 per hour at workersMax is above the budget of 9.75 (--max-hourly).",
    });
    expect(await estimate("--max-hourly", "9.76")).toMatchObject({
      code: 3,
      err: 'The budget of 9.76 per hour cannot be confirmed: ServerlessEndpoint "any": gpuTypeIds is empty, so the service chooses; set a fixed value in the program.',
    });
    const knownPreview = changedPreview((inputs, name) => {
      if (name === "any") inputs["gpuTypeIds"] = ["NVIDIA L4"];
    });
    const args = ["estimate", "--prices", await fileWith(prices), "--max-hourly"];
    expect(await command([...args, "11.14"], knownPreview)).toMatchObject({ code: 0, err: "" });
    expect(await command([...args, "11.13"], knownPreview)).toMatchObject({ code: 3 });
  });

  test("the cost of a pool is that of its most expensive type that is not excluded", async () => {
    const pool = { gpuPools: ["AMPERE_24"], excludedGpuTypeIds: ["NVIDIA RTX A5000", "NVIDIA GeForce RTX 3090"] };
    const preview = changedPreview((inputs, name) => {
      if (name === "any") Object.assign(inputs, pool);
    });
    const args = ["estimate", "--prices", await fileWith(prices), "--max-hourly"];
    expect(await command([...args, "11.14"], preview)).toMatchObject({ code: 0, err: "" });
    expect(await command([...args, "11.13"], preview)).toMatchObject({ code: 3 });
  });

  test("names the reason of each unknown cost", async () => {
    const later = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    const preview = changedPreview((inputs, name) => {
      if (name === "chat") inputs["gpuTypeIds"] = ["NVIDIA L4", "NVIDIA B200"];
      if (name === "vision") inputs["workersMax"] = later;
      if (name === "cpu") inputs["cpuFlavorIds"] = ["cpu5c-8"];
      if (name === "models") inputs["type"] = "HIGH_PERFORMANCE";
    });
    const { out } = await command(["estimate", "--prices", await fileWith(prices), "--format", "json"], preview);
    const report = JSON.parse(out);
    const chat = { after: { unknown: 'GPU type "NVIDIA B200" has no known price', unpriced: ["NVIDIA B200"] } };
    expect(report.resources).toContainEqual(expect.objectContaining({ resource: "chat", ...chat }));
    expect(report.unknown).toEqual([
      { resource: 'ServerlessEndpoint "any"', reason: "gpuTypeIds is empty, so the service chooses" },
      { resource: 'ServerlessEndpoint "chat"', reason: 'GPU type "NVIDIA B200" has no known price' },
      { resource: 'ServerlessEndpoint "cpu"', reason: 'CPU flavour "cpu5c" has no known price' },
      {
        resource: 'NetworkVolume "models"',
        reason: 'volume type "HIGH_PERFORMANCE" has no known price',
      },
      { resource: 'ServerlessEndpoint "vision"', reason: "workersMax is known after the deployment" },
    ]);
  });

  test.each([
    ["neither flavours nor virtual CPUs", undefined, undefined, 2 * 2 * 0.05],
    ["no flavours", [], 4, 2 * 4 * 0.05],
    ["no virtual CPUs", ["cpu5c", "cpu3c-4"], undefined, 2 * 4 * 0.05],
  ])("counts a CPU endpoint with %s as the service runs it", async (_, cpuFlavorIds, vcpuCount, max) => {
    const preview = changedPreview((inputs, name) => {
      if (name === "cpu") Object.assign(inputs, { cpuFlavorIds, vcpuCount });
    });
    const file = await fileWith({ ...prices, cpus: { cpu3c: 0.05, cpu5c: 0.06 } });
    const { out } = await command(["estimate", "--prices", file, "--format", "json"], preview);
    const cpu = JSON.parse(out).resources.find(({ resource }: { resource: string }) => resource === "cpu");
    expect(cpu.after).toEqual({ min: 0, max: expect.closeTo(max) });
  });

  test.each([
    ["the type in the state", "update", "STANDARD", 200 * 0.07],
    ["the most expensive type for a new volume", "create", undefined, 200 * 0.14],
    ["the most expensive type for a replacement", "create-replacement", "STANDARD", 200 * 0.14],
    ["the most expensive type if the state does not contain the type", "update", undefined, 200 * 0.14],
  ])("counts a volume without a type in the program as %s", async (_, op, type, monthly) => {
    const inputs = { size: 200, dataCenterId: "EU-RO-1" };
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::models";
    const oldState = op === "create" ? null : { inputs, outputs: { ...inputs, ...(type && { type }) } };
    const preview = JSON.stringify({ steps: [{ op, urn, oldState, newState: { inputs } }] });
    const file = await fileWith({ volumes: { STANDARD: 0.07, HIGH_PERFORMANCE: 0.14 } });
    const { out } = await command(["estimate", "--prices", file, "--format", "json"], preview);
    const [volume] = JSON.parse(out).resources;
    expect(volume.after.max * 730).toBeCloseTo(monthly);
  });

  test("asks for the price of every type of a new volume without a type", async () => {
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::models";
    const inputs = { size: 200, dataCenterId: "EU-RO-1" };
    const preview = JSON.stringify({ steps: [{ op: "create", urn, newState: { inputs } }] });
    const file = await fileWith({ volumes: { STANDARD: 0.07 } });
    expect(await command(["estimate", "--prices", file, "--max-hourly", "9"], preview)).toMatchObject({
      code: 3,
      err: `The budget of 9 per hour cannot be confirmed: NetworkVolume "models": volume type "HIGH_PERFORMANCE" has no known price; add it to ${file}.`,
    });
  });

  test("counts a deleted resource only before the deployment, a replaced resource once, and no other kinds", async () => {
    const urn = (kind: string, name: string) => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::${name}`;
    const volume = (size: number) => ({ inputs: { size, type: "STANDARD", dataCenterId: "EU-RO-1" } });
    const models = urn("NetworkVolume", "models");
    const steps = [
      { op: "create-replacement", urn: models, oldState: volume(100), newState: volume(200) },
      { op: "replace", urn: models, oldState: volume(100), newState: volume(200) },
      { op: "delete-replaced", urn: models, oldState: volume(100), newState: null },
      { op: "delete", urn: urn("NetworkVolume", "old"), oldState: volume(50), newState: null },
      { op: "create", urn: urn("Secret", "token"), newState: { inputs: {} } },
    ];
    const { out } = await command(["estimate", "--prices", await fileWith(prices)], JSON.stringify({ steps }));
    expect(out).toMatch(/^models NetworkVolume +200 GB .* 14\.00 +14\.00 +\+7\.00$/m);
    expect(out).toMatch(/^old NetworkVolume +deleted .* 0\.00 +0\.00 +-3\.50$/m);
    expect(out).toMatch(/^total .* 14\.00 +14\.00 +\+3\.50$/m);
    expect(out).not.toContain("token");
  });

  test("a preview without the unchanged resources confirms no budget", async () => {
    const preview = JSON.parse(readFileSync(recorded, "utf8"));
    preview.steps = preview.steps.filter(({ op }: { op: string }) => op !== "same");
    const args = ["estimate", "--prices", await fileWith(prices)];
    const missing = "the preview lacks 5 unchanged resources; add --show-sames to `pulumi preview`.";
    expect(await command(args, JSON.stringify(preview))).toMatchObject({ code: 0, err: missing });
    expect(await command([...args, "--max-hourly", "1000"], JSON.stringify(preview))).toMatchObject({
      code: 3,
      err: `The budget of 1000 per hour cannot be confirmed: ${missing}`,
    });
  });

  test("an unconfirmed budget names the file that lacks a price", async () => {
    const file = await fileWith({ gpus: prices.gpus, cpus: prices.cpus });
    const preview = changedPreview((inputs, name) => {
      if (name === "any") inputs["gpuTypeIds"] = ["NVIDIA L4"];
    });
    const args = ["estimate", "--prices", file, "--max-hourly", "1000"];
    expect(await command(args, preview)).toMatchObject({
      code: 3,
      err: `The budget of 1000 per hour cannot be confirmed: NetworkVolume "models": volume type "STANDARD" has no known price; add it to ${file}.`,
    });
  });

  test("an unconfirmed budget lists every unknown cost, and every type without a price", async () => {
    const file = await fileWith({ gpus: { "NVIDIA L4": 0.69 }, cpus: prices.cpus });
    const preview = changedPreview((inputs, name) => {
      if (name === "vision") inputs["gpuTypeIds"] = ["NVIDIA A40", "NVIDIA L4", "NVIDIA B200"];
    });
    const { code, err } = await command(["estimate", "--prices", file, "--max-hourly", "1000"], preview);
    expect(code).toBe(3);
    expect(err.split("\n").at(-1)).toBe(
      "The budget of 1000 per hour cannot be confirmed: " +
        'ServerlessEndpoint "any": gpuTypeIds is empty, so the service chooses; set a fixed value in the program. ' +
        `NetworkVolume "models": volume type "STANDARD" has no known price; add it to ${file}. ` +
        `ServerlessEndpoint "vision": GPU types "NVIDIA A40", "NVIDIA B200" have no known price; add them to ${file}.`,
    );
  });

  test("an unconfirmed budget states a reason of several resources once, with their number", async () => {
    const file = await fileWith({ gpus: prices.gpus });
    const steps = ["a", "b", "c"].map((name) => ({
      op: "create",
      urn: `urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::${name}`,
      newState: { inputs: { size: 10, type: "STANDARD" } },
    }));
    const { err } = await command(["estimate", "--prices", file, "--max-hourly", "9"], JSON.stringify({ steps }));
    expect(err.split("\n").at(-1)).toBe(
      `The budget of 9 per hour cannot be confirmed: NetworkVolume "a" and 2 more resources: volume type "STANDARD" has no known price; add it to ${file}.`,
    );
  });

  test("rejects a file that is not a preview with the command that prints one", async () => {
    for (const content of [[], "text"])
      expect(await command(["estimate", await fileWith(content)])).toMatchObject({
        code: 1,
        err: "serverless-compute: the input is not a preview; pass the output of `pulumi preview --json --show-sames`",
      });
  });

  test.each([["--prices", "absent.json", recorded], ["absent.json"]])(
    "rejects a file that does not exist: %s %s",
    async (...args) => {
      expect(await command(["estimate", ...args])).toEqual({
        code: 1,
        out: "",
        err: "serverless-compute: absent.json: cannot be read (ENOENT); specify an existing file",
      });
    },
  );

  test.each([
    ["{", /content\.json is not JSON/],
    [[], /content\.json: content: is \[\]; must be an object$/],
    [
      { gpus: { "NVIDIA L4": "0.69", "NVIDIA A40": -1 } },
      /content\.json: gpus\.NVIDIA L4: is "0\.69"; must be a number\n.*gpus\.NVIDIA A40: is -1; must be 0 or more$/,
    ],
    [{ gpu: {} }, /content\.json: gpu: unknown; expected "gpus", "cpus" or "volumes"$/],
  ])("rejects the file of prices %j", async (content, message) => {
    const { code, out, err } = await command(["estimate", "--prices", await fileWith(content), recorded]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(message);
  });

  test("rejects a budget that is not a number, and a failed preview", async () => {
    expect(await estimate("--max-hourly", "much")).toMatchObject({
      code: 2,
      err: expect.stringContaining("0 or more"),
    });
    const failed = { steps: [], diagnostics: [{ message: "no such image", severity: "error" }] };
    expect(await command(["estimate"], JSON.stringify(failed))).toMatchObject({
      code: 1,
      err: "serverless-compute: the preview failed: no such image",
    });
  });
});
