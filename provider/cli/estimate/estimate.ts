import { parsePreview } from "../preview-comment/preview";
import { exitCodes, type Terminal } from "../terminal";
import { costsOf } from "./costs";
import { pricesOfCatalog, pricesOfFile } from "./prices";
import { type Estimate, estimateOf, markdownText, tableText } from "./report";

/** Options of `estimate`. */
export interface EstimateFlags {
  /** File of prices, instead of the service's catalog. */
  prices?: string | undefined;
  /** Budget in US dollars per hour, at `workersMax`. */
  maxHourly?: number | undefined;
  format: "table" | "markdown" | "json";
}

/** Prints the costs of a previewed stack. Returns the exit code. */
export async function estimate(text: string, flags: EstimateFlags, io: Terminal): Promise<number> {
  const preview = parsePreview(text);
  const [error] = preview.errors;
  if (error) throw new Error(`the preview failed: ${error.text}`);
  const missing = preview.unchanged - preview.steps.filter(({ op }) => op === "same").length;
  const incomplete = `${missing} unchanged resources are not in the preview; add --show-sames to \`pulumi preview\``;
  if (missing > 0 && flags.maxHourly === undefined) io.err(`${incomplete}.`);
  const prices = await (flags.prices === undefined ? pricesOfCatalog(io.err) : pricesOfFile(flags.prices));
  const result = estimateOf(preview.stack ?? "the stack", costsOf(preview, prices));
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
  const uncertainty = missing > 0 ? incomplete : uncertaintyOf(result, flags.prices);
  if (uncertainty === undefined) return 0;
  io.err(`The budget of ${flags.maxHourly} per hour cannot be confirmed: ${uncertainty}.`);
  return exitCodes.attention;
}

/** The unknown costs with their remedies; undefined if all costs are known. */
function uncertaintyOf({ unknown }: Estimate, prices = "a file and pass it with --prices"): string | undefined {
  const remedyOf = (reason: string): string => {
    if (reason.includes(";")) return "";
    if (reason.endsWith("has no known price")) return `; add it to ${prices}`;
    return reason.endsWith("have no known price") ? `; add them to ${prices}` : "; set a fixed value in the program";
  };
  if (unknown.length === 0) return undefined;
  return unknown.map(({ resource, reason }) => `${resource}: ${reason}${remedyOf(reason)}`).join(". ");
}
