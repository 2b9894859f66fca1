import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api/clock";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { scratchFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { unusedOrigin } from "../../../support/loopback";
import { command } from "./terminal";

/** The recorded preview of estimate.test.ts. */
const recorded = fileURLToPath(new URL("../../../fixtures/previews/costs.json", import.meta.url));

const folder = scratchFolder(afterAll);
async function fileWith(prices: object): Promise<string> {
  const file = join(folder, "prices.json");
  await writeFile(file, JSON.stringify(prices));
  return file;
}

// The command retries requests to a service that is not running, without the wait of a user.
const { sleep } = systemClock;
vi.spyOn(systemClock, "sleep").mockImplementation((ms, signal) => sleep(ms / 100, signal));

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A service whose address and key are in the environment until the end of the test. */
async function serviceInEnvironment() {
  const { service } = await useLocalService();
  vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", service.apiKey);
  vi.stubEnv("SERVERLESS_COMPUTE_URL", service.url);
  return service;
}

/** Maximum costs after the deployment in a report in JSON, by resource. */
const maximumCosts = (out: string): Record<string, number | undefined> =>
  Object.fromEntries(
    JSON.parse(out).resources.map(({ resource, after }: { resource: string; after: { max?: number } }) => [
      resource,
      after.max,
    ]),
  );

/** The catalog's price of an L4: 0.00019 US dollars per second. */
const catalogCostOfChat = 2 * 5 * 0.00019 * 3600;

test("estimate without a file and without a key names both remedies, but not the stack's config", async () => {
  vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", "");
  const { code, err } = await command(["estimate", recorded]);
  expect({ code, err }).toEqual({
    code: 1,
    err: 'serverless-compute: the API key of http://127.0.0.1:7337/v2 is missing: set SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key"; or pass a file of prices with --prices',
  });
});

test.each(["v2", "v1"])(
  "estimate without a file reads the prices of the service's catalog or rejects a wrong key, in dialect %s",
  async (dialect) => {
    const service = await serviceInEnvironment();
    vi.stubEnv("SERVERLESS_COMPUTE_DIALECT", dialect);
    const { out } = await command(["estimate", "--format", "json", recorded]);
    expect(maximumCosts(out)["chat"]).toBeCloseTo(catalogCostOfChat);
    expect(JSON.parse(out).unknown).toContainEqual({
      resource: 'ServerlessEndpoint "cpu"',
      reason: 'CPU flavour "cpu3c" has no known price',
    });

    vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", "wrong-key");
    const rejected = await command(["estimate", recorded]);
    expect(rejected).toMatchObject({ code: 1, out: "" });
    expect(rejected.err).toBe(
      `serverless-compute: prices of the catalog: ${service.url} rejected the API key, or the key lacks permission. ` +
        'The key comes from SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key"' +
        "; or pass a file of prices with --prices",
    );
  },
);

test("estimate names the stack's config for the address and the environment for the key", async () => {
  vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", "some-key");
  const config = { "serverless-compute:url": await unusedOrigin() };
  const preview = JSON.stringify({ ...JSON.parse(readFileSync(recorded, "utf8")), config });
  const { err } = await command(["estimate"], preview);
  expect(err).toContain("connection refused");
  expect(err).toContain("or set serverless-compute:url to the service's address");
});

test("prices in a file override those of the catalog, which is read only for GPUs and CPUs that the file lacks", async () => {
  const service = await serviceInEnvironment();
  const cpus = { cpu3c: 0.05 };
  const volumes = { STANDARD: 0.07 };
  const json = ["--format", "json", recorded];
  const file = await fileWith({ gpus: { "NVIDIA A40": 2 }, cpus, volumes });
  const combined = await command(["estimate", "--prices", file, ...json]);
  expect(combined).toMatchObject({ code: 0, err: "" });
  expect(maximumCosts(combined.out)).toMatchObject({
    chat: expect.closeTo(catalogCostOfChat),
    vision: expect.closeTo(2 * 2),
    models: expect.closeTo((200 * 0.07) / 730),
  });

  await service.stop(0);
  const withoutVolumes = await fileWith({ gpus: { "NVIDIA L4": 0.69, "NVIDIA A40": 1.22 }, cpus });
  expect(await command(["estimate", "--prices", withoutVolumes, ...json])).toMatchObject({ code: 0, err: "" });
  const withoutGpus = await fileWith({ cpus, volumes });
  const { code, out, err } = await command(["estimate", "--prices", withoutGpus, ...json]);
  expect({ code, cost: maximumCosts(out)["chat"] }).toEqual({ code: 0, cost: undefined });
  expect(err).toMatch(/^The file's prices are not completed from the catalog: prices of the catalog: .+\.$/);
});

test("the catalog is read from the service in the stack's config, with the key of the environment", async () => {
  const service = await serviceInEnvironment();
  vi.stubEnv("SERVERLESS_COMPUTE_URL", "");
  const config = { "serverless-compute:url": service.url, "serverless-compute:apiKey": "[secret]" };
  const preview = JSON.stringify({ ...JSON.parse(readFileSync(recorded, "utf8")), config });
  const { code, out, err } = await command(["estimate", "--format", "json"], preview);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(maximumCosts(out)["chat"]).toBeCloseTo(catalogCostOfChat);

  vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", "");
  const { err: reason } = await command(["estimate"], preview);
  expect(reason).toContain(`the API key of ${service.url}/v2 is missing: set SERVERLESS_COMPUTE_API_KEY;`);
});
