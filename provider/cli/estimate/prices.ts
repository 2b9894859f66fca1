import { expectation, showChoices, showValue } from "serverless-compute-api/shapes";
import { z } from "zod";
import { explainLookup } from "../../framework/messages";
import { openClients } from "../account";
import { settingsOfPreview } from "../provider-settings";
import type { Preview } from "../pulumi-preview/preview";
import { readText } from "../text-file";

const amounts = z.record(z.string(), z.number().nonnegative()).default({});

const priceFile = z.strictObject({ gpus: amounts, cpus: amounts, volumes: amounts });

/**
 * Prices in US dollars: per hour by GPU type, per hour and virtual CPU by CPU flavour, per month and GB by volume type. Other
 * types have no known price.
 */
export type Prices = z.output<typeof priceFile>;

/** Reads a file of prices. Throws an Error with a message for users that names the entry, its value and what is allowed. */
export async function pricesOfFile(file: string): Promise<Prices> {
  const text = await readText(file);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file} is not JSON`, { cause });
  }
  const { data, error } = priceFile.safeParse(content, { reportInput: true });
  if (data) return data;
  throw new Error(error.issues.map((issue) => `${file}: ${faultOf(issue)}`).join("\n"));
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `${issue.keys.join(", ")}: unknown; expected ${showChoices(Object.keys(priceFile.shape))}`;
  return `${issue.path.join(".") || "content"}: is ${showValue(issue.input)}; ${expectation(issue)}`;
}

const pricesById = (prices: [string, number | undefined][]): Record<string, number> =>
  Object.fromEntries(prices.flatMap(([id, price]) => (price === undefined ? [] : [[id, price]])));

/** Combines prices; those in `overrides` take precedence. */
export const overridePrices = (prices: Prices, overrides: Prices): Prices => ({
  gpus: { ...prices.gpus, ...overrides.gpus },
  cpus: { ...prices.cpus, ...overrides.cpus },
  volumes: { ...prices.volumes, ...overrides.volumes },
});

/**
 * Reads the catalog of the service in the stack's config or the environment: two requests with REST v2, one with REST v1. Throws an
 * Error with a message for users if the settings or the requests fail.
 */
export async function pricesOfCatalog(preview: Preview, notify: (text: string) => void): Promise<Prices> {
  const { settings, clients } = openClients(settingsOfPreview(preview), notify, undefined, false);
  const { management } = clients;
  const [gpus, cpus] = await explainLookup("prices of the catalog", settings.lifecycle, () =>
    Promise.all([management.listGpuTypes(), management.listCpuTypes?.() ?? []]),
  ).finally(() => clients.close());
  return {
    gpus: pricesById(gpus.map(({ id, price }) => [id, price])),
    cpus: pricesById(cpus.map(({ id, pricePerVcpu }) => [id, pricePerVcpu])),
    // No API has the prices of volumes.
    volumes: {},
  };
}
