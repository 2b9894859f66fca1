import { messageOf } from "../../engine/error-text";
import { explainLookup } from "../../framework/messages";
import { openClients } from "../account";
import { settingsIn } from "../provider-settings";
import { pulumiCli, type StackChoice } from "../pulumi";
import { changesOf } from "../pulumi-preview/changes";
import { type Preview, parsePreview } from "../pulumi-preview/preview";
import { parseState } from "../state";
import { exitCodes, type Terminal } from "../terminal";
import { readText } from "../text-file";
import { type ReleasedChange, releasedChanges } from "./releases";
import { junitText, markdownText, plainText, type Report } from "./report";
import { withKeptCopies } from "./template-copies";

/** Options of `drift`. */
export interface DriftFlags extends StackChoice {
  /** Output of `pulumi refresh --preview-only --json`, instead of a refresh. */
  file?: string | undefined;
  format: "text" | "markdown" | "json" | "junit";
}

/** Milliseconds for reading an endpoint's releases. */
const releasesTimeout = 10_000;

/** Prints how the objects of a stack differ from its state, and changes neither. Returns the exit code. */
export async function drift(flags: DriftFlags, io: Terminal, environment?: NodeJS.ProcessEnv): Promise<number> {
  const text = flags.file === undefined ? await pulumiCli(flags).previewRefresh() : await readText(flags.file);
  const refresh = parsePreview(text, "pulumi refresh --preview-only --json");
  const [error] = refresh.errors;
  if (error) throw new Error(`the refresh failed: ${error.text}`);
  if (refresh.lacksChanges)
    throw new Error(
      "the file lacks the changes of dynamic resources; set PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true for the refresh that writes it",
    );
  const report = reportOf(refresh, flags.stack);
  const changes = releasedChanges(refresh, report.drifted);
  if (changes.length > 0)
    await addReleases(changes, flags, io.err, environment).catch((error: unknown) =>
      io.err(`The report contains no releases: ${messageOf(error)}`),
    );
  io.out(formatReport(report, flags.format));
  return report.drifted.length > 0 ? exitCodes.attention : 0;
}

/** Adds to each change the newest release that made it. Sends one request for each endpoint. */
async function addReleases(
  changes: readonly ReleasedChange[],
  flags: DriftFlags,
  notify: (text: string) => void,
  environment: NodeJS.ProcessEnv | undefined,
): Promise<void> {
  const state =
    flags.file === undefined ? parseState(await pulumiCli(flags).exportState({ showSecrets: true })) : undefined;
  for (const provider of new Set(changes.map(({ endpoint }) => endpoint.provider))) {
    const { settings, clients } = openClients(state && settingsIn(state, provider ?? ""), notify, environment);
    const providerChanges = changes.filter(({ endpoint }) => endpoint.provider === provider);
    const addEndpointReleases = async (endpointId: string): Promise<void> => {
      const response = await clients.management.readReleases(endpointId, { timeout: releasesTimeout });
      for (const { change, endpoint, findRelease } of providerChanges.filter(
        (candidate) => candidate.endpoint.id === endpointId,
      )) {
        const release = findRelease(response?.releases ?? []);
        if (!release || (change.release && change.release.createdAt > release.createdAt)) continue;
        change.release = {
          endpoint: endpoint.name,
          id: release.id,
          version: release.version,
          createdAt: release.createdAt,
        };
      }
    };
    const endpointIds = [...new Set(providerChanges.map(({ endpoint }) => endpoint.id))];
    await explainLookup("releases", settings.lifecycle, () =>
      Promise.all(endpointIds.map(addEndpointReleases)),
    ).finally(() => clients.close());
  }
}

function reportOf(refresh: Preview, stack: string | undefined): Report {
  const resources = refresh.steps
    .map(({ urn }) => urn)
    .filter((urn) => !/::pulumi:(pulumi:Stack|providers:[^:]*)::/.test(urn));
  const drifted = withKeptCopies(
    changesOf(refresh, "service").filter(({ operation }) => operation !== "same"),
    refresh,
  );
  return { stack: stack ?? refresh.stack ?? "the stack", resources, drifted };
}

function formatReport(report: Report, format: DriftFlags["format"]): string {
  if (format === "json") return JSON.stringify(report, null, 2);
  if (format === "junit") return junitText(report);
  return format === "markdown" ? markdownText(report) : plainText(report);
}
