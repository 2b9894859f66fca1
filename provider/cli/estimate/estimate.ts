import { messageOf } from "../../engine/error-text";
import { type Preview, parsePreview } from "../pulumi-preview/preview";
import { countOf, exitCodes, type Terminal } from "../terminal";
import { costsOf, isUnknown, type ResourceCost, type UnknownCost } from "./costs";
import { overridePrices, pricesOfCatalog, pricesOfFile } from "./prices";
import { estimateOf, markdownText, tableText } from "./report";

/** Options of `estimate`. */
export interface EstimateFlags {
  /** File of prices, which override those of the service's catalog. */
  prices?: string | undefined;
  /** Budget in US dollars per hour, at `workersMax`. */
  maxHourly?: number | undefined;
  format: "table" | "markdown" | "json";
}

/** Prints the costs of a previewed stack. Returns the exit code. */
export async function estimate(text: string, flags: EstimateFlags, io: Terminal): Promise<number> {
  const preview = parsePreview(text, "pulumi preview --json --show-sames");
  const [error] = preview.errors;
  if (error) throw new Error(`the preview failed: ${error.text}`);
  const missing = preview.unchanged - preview.steps.filter(({ op }) => op === "same").length;
  const incomplete = `the preview lacks ${countOf(missing, "unchanged resource")}; add --show-sames to \`pulumi preview\``;
  if (missing > 0 && flags.maxHourly === undefined) io.err(`${incomplete}.`);
  const costs = await pricedCosts(preview, flags.prices, io.err);
  const result = estimateOf(preview.stack ?? "the stack", costs);
  const formats = {
    table: tableText,
    markdown: markdownText,
    json: (report: object) => JSON.stringify(report, null, 2),
  };
  io.out(formats[flags.format](result));
  if (flags.maxHourly === undefined) return 0;
  const { max } = result.total.after;
  if (max > flags.maxHourly) {
    io.err(`${max.toFixed(3)} per hour at workersMax is above the budget of ${flags.maxHourly} (--max-hourly).`);
    return exitCodes.attention;
  }
  const uncertainty = missing > 0 ? incomplete : uncertaintyOf(costs, flags.prices);
  if (uncertainty === undefined) return 0;
  io.err(`The budget of ${flags.maxHourly} per hour cannot be confirmed: ${uncertainty}.`);
  return exitCodes.attention;
}

/**
 * The costs of a preview by the prices in a file. The catalog is read only without a file, or for GPUs and CPUs that the file
 * lacks; in the latter case, `notify` receives the reason of a failure.
 */
async function pricedCosts(
  preview: Preview,
  file: string | undefined,
  notify: (text: string) => void,
): Promise<ResourceCost[]> {
  const reasonOf = (error: unknown): string => messageOf(error).replace(/\.$/, "");
  if (file === undefined) {
    const prices = await pricesOfCatalog(preview, notify).catch((cause: unknown) => {
      throw new Error(`${reasonOf(cause)}; or pass a file of prices with --prices`, { cause });
    });
    return costsOf(preview, prices);
  }
  const prices = await pricesOfFile(file);
  const costs = costsOf(preview, prices);
  if (!costs.some(lacksCatalogPrice)) return costs;
  try {
    return costsOf(preview, overridePrices(await pricesOfCatalog(preview, notify), prices));
  } catch (error) {
    notify(`The file's prices are not completed from the catalog: ${reasonOf(error)}.`);
    return costs;
  }
}

/** Returns true if the catalog may contain a missing price of the resource. No API has the prices of volumes. */
const lacksCatalogPrice = ({ kind, before, after }: ResourceCost): boolean =>
  kind === "ServerlessEndpoint" && [before, after].some((cost) => isUnknown(cost) && cost.unpriced !== undefined);

/** The unknown costs with their remedies; undefined if all costs are known. */
function uncertaintyOf(
  costs: readonly ResourceCost[],
  prices = "a file and pass it with --prices",
): string | undefined {
  const remedyOf = ({ unknown: reason, unpriced }: UnknownCost): string => {
    if (unpriced) return `; add ${unpriced.length === 1 ? "it" : "them"} to ${prices}`;
    return reason.includes(";") ? "" : "; set a fixed value in the program";
  };
  const resourcesByReason = new Map<string, string[]>();
  for (const { kind, resource, after } of costs) {
    if (!isUnknown(after)) continue;
    const reason = `${after.unknown}${remedyOf(after)}`;
    resourcesByReason.set(reason, [...(resourcesByReason.get(reason) ?? []), `${kind} "${resource}"`]);
  }
  const texts = [...resourcesByReason].map(([reason, [first, ...others]]) =>
    others.length === 0 ? `${first}: ${reason}` : `${first} and ${countOf(others.length, "more resource")}: ${reason}`,
  );
  return texts.length === 0 ? undefined : texts.join(". ");
}
