import { changesOf } from "../preview-comment/changes";
import { type Preview, parsePreview } from "../preview-comment/preview";
import { pulumiCli, type StackChoice } from "../pulumi";
import { exitCodes, type Terminal } from "../terminal";
import { readText } from "../text-file";
import { junitText, markdownText, plainText, type Report } from "./report";

/** Options of `drift`. */
export interface DriftFlags extends StackChoice {
  /** Output of `pulumi refresh --preview-only --json`, instead of a refresh. */
  file?: string | undefined;
  format: "text" | "markdown" | "json" | "junit";
}

/** Prints how the objects of a stack differ from its state, and changes neither. Returns the exit code. */
export async function drift(flags: DriftFlags, io: Terminal): Promise<number> {
  const text = flags.file === undefined ? await pulumiCli(flags).previewRefresh() : await readText(flags.file);
  const refresh = parsePreview(text);
  const [error] = refresh.errors;
  if (error) throw new Error(`the refresh failed: ${error.text}`);
  const report = reportOf(refresh, flags.stack);
  io.out(textOf(report, flags.format));
  return report.drifted.length > 0 ? exitCodes.attention : 0;
}

function reportOf(refresh: Preview, stack: string | undefined): Report {
  const resources = refresh.steps
    .map(({ urn }) => urn)
    .filter((urn) => !/::pulumi:(pulumi:Stack|providers:[^:]*)::/.test(urn));
  const drifted = changesOf(refresh).filter(({ operation }) => operation !== "same");
  return { stack: stack ?? refresh.stack ?? "the stack", resources, drifted };
}

function textOf(report: Report, format: DriftFlags["format"]): string {
  if (format === "json") return JSON.stringify(report, null, 2);
  if (format === "junit") return junitText(report);
  return format === "markdown" ? markdownText(report) : plainText(report);
}
