import { type EndpointRelease, markVariable } from "serverless-compute-api";
import { z } from "zod";
import { isRecord, pathText } from "../../engine/values";
import { parseUrn } from "../../framework/urn";
import { normalizePorts } from "../../resources/template/revision";
import { toStartText } from "../../resources/template/start-arguments";
import type { PropertyChange, ResourceChange } from "../pulumi-preview/changes";
import type { Preview, Step } from "../pulumi-preview/preview";
import { kindOf } from "../state";
import { templateOf } from "./template-copies";

/** A changed property, and an endpoint whose releases may contain the change. */
export interface ReleasedChange {
  change: PropertyChange;
  endpoint: { id: string; name: string; provider: string | undefined };
  findRelease: ReleaseSearch;
}

/** Finds the release that gave a property its present value; `releases` are in order, the newest first. */
type ReleaseSearch = (releases: readonly EndpointRelease[]) => EndpointRelease | undefined;
type Inputs = Record<string, unknown>;

/** Names in releases of an endpoint's own properties, as far as the service documents them. */
const endpointFields: Readonly<Record<string, string>> = { gpuCount: "gpuCount", workersMax: "workers.max" };

/** The changes that releases may contain: of endpoints, and of templates with endpoints in the same stack. */
export function releasedChanges({ steps }: Preview, drifted: readonly ResourceChange[]): ReleasedChange[] {
  const endpoints = steps.filter(
    ({ urn, newState }) => newState && kindOf(parseUrn(urn).type) === "ServerlessEndpoint",
  );
  return drifted.flatMap(({ urn, properties }) =>
    endpoints.flatMap((endpoint) => {
      const template = templateOf(endpoint, steps);
      const { id } = endpoint.oldState ?? {};
      const step = urn === endpoint.urn ? endpoint : urn === template?.urn ? template : undefined;
      if (id === undefined || step === undefined) return [];
      const { urn: endpointUrn, provider } = endpoint;
      return properties.flatMap((change): ReleasedChange[] => {
        const findRelease = (step === endpoint && endpointSearch(change)) || containerSearch(change, step);
        return findRelease
          ? [{ change, endpoint: { id, name: parseUrn(endpointUrn).name, provider }, findRelease }]
          : [];
      });
    }),
  );
}

/** The newest change of a field. */
function findLastChange(releases: readonly EndpointRelease[], field: string) {
  for (const release of releases) {
    const difference = release.diff.find((candidate) => candidate.field === field);
    if (difference) return { release, old: difference.old, new: difference.new };
  }
  return undefined;
}

function endpointSearch({ property, new: value }: PropertyChange): ReleaseSearch | undefined {
  const field = endpointFields[property];
  if (field === undefined) return undefined;
  return (releases) => {
    const last = findLastChange(releases, field);
    return last?.new === value ? last?.release : undefined;
  };
}

const containerFields = ["imageName", "containerDiskInGb", "dockerArgs", "ports", "containerRegistryAuthId"];

const toText = (value: unknown): string =>
  value === undefined || value === null ? "" : Array.isArray(value) ? value.join(",") : String(value);

/** A field of a container in one spelling. */
function normalizeField(field: string, value: unknown): string {
  if (field === "dockerArgs") return toStartText({ dockerArgs: toText(value) });
  return field === "ports" ? normalizePorts(toText(value)) : toText(value);
}

const textList = z.array(z.string()).catch([]);
const startArguments = z.looseObject({
  dockerArgs: z.string().catch(""),
  dockerEntrypoint: textList,
  dockerStartCmd: textList,
});

/** A field of a container in inputs. */
const containerSetting = (inputs: Inputs, field: string): string =>
  field === "dockerArgs" ? toStartText(startArguments.parse(inputs)) : normalizeField(field, inputs[field]);

/** The search for a setting of the container, which is a property of an endpoint or of its template. */
function containerSearch(change: PropertyChange, step: Step): ReleaseSearch | undefined {
  const [olds, news] = [step.oldState?.inputs ?? {}, step.newState?.inputs ?? {}];
  const field = /^docker/.test(change.property) ? "dockerArgs" : change.property;
  if (!containerFields.includes(field)) return variableSearch(change, [olds, news]);
  return (releases) => {
    const last = findLastChange(releases, `template.${field}`);
    return last && normalizeField(field, last.new) === containerSetting(news, field) ? last.release : undefined;
  };
}

/** The names of the variables in a release's environment. Values are never read. */
function variableNames(value: unknown): string[] | undefined {
  const names = z.array(z.string()).safeParse(value);
  return names.data?.filter((name) => name !== markVariable);
}

/** The search for a variable. Releases contain names only, so a variable with another value is in none of them. */
function variableSearch({ property, old, new: value }: PropertyChange, sides: Inputs[]): ReleaseSearch | undefined {
  const all = sides.flatMap(({ env }) => (isRecord(env) ? Object.keys(env) : []));
  const names = property === "env" ? all : all.filter((name) => pathText(["env", name]) === property);
  if (names.length === 0 || (old !== undefined && value !== undefined)) return undefined;
  return (releases) => {
    const last = findLastChange(releases, "template.env");
    const [before, after] = [variableNames(last?.old), variableNames(last?.new)];
    const [present, absent] = value === undefined ? [before, after] : [after, before];
    return names.some((name) => present?.includes(name) && absent?.includes(name) === false)
      ? last?.release
      : undefined;
  };
}
