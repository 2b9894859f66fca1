import { shortType } from "../../framework/urn";
import type { ObjectKind } from "../../resources";
import { countOf } from "../terminal";
import { shellWord } from "./text-layout";

/** An object that was not imported. */
export interface Skipped {
  kind: ObjectKind;
  /** Undefined if the service returned an object without a readable id or name. */
  id: string | undefined;
  name: string | undefined;
  reason: string;
}

/** Result of an import of an account. */
export interface Report {
  folder: string;
  /** Language of the program. */
  language: "typescript" | "yaml" | "python" | "go";
  resources: { type: string; name: string; id: string }[];
  /** Keys of the stack's config that must be set as secrets. */
  config: string[];
  skipped: Skipped[];
  /** Settings in the environment that select the service, for the stack's config. */
  settings: { name: string; value: string }[];
  /** Resources and properties of a moved state that this package does not have. */
  noCounterpart: { address: string; reason: string }[];
}

/** Installation of a program's packages and of the plugin's SDK, by language. */
const installations: Record<Report["language"], string[]> = {
  yaml: [],
  typescript: ["npm install   # requires the SDK: run npm run sdks -- <this folder>/sdks nodejs in a clone"],
  python: [
    "pip install -r requirements.txt   # requires the SDK: run npm run sdks -- <this folder>/sdks python in a clone",
  ],
  go: ["go mod tidy   # requires the SDK: run npm run sdks -- <this folder>/sdks go in a clone"],
};

/** The report as text. */
export function reportText({ folder, language, resources, config, settings, skipped, noCounterpart }: Report): string {
  const kinds = resources.map(({ type }) => shortType(type));
  const counts = [...new Set(kinds)].map((kind) => `${kinds.filter((candidate) => candidate === kind).length} ${kind}`);
  const lines = [
    `Wrote ${countOf(resources.length, "resource")} to ${folder}: ${counts.join(", ")}.`,
    "",
    ...(skipped.length === 0 ? [] : ["Not imported:", ...skipped.map(skippedLine), ""]),
    ...(noCounterpart.length === 0 ? [] : ["No counterpart:", ...noCounterpart.map(lossLine), ""]),
    "Next:",
    `  cd ${shellWord(folder)}`,
    ...installations[language].map((command) => `  ${command}`),
    "  pulumi stack init dev",
    ...settings.map(({ name, value }) => `  pulumi config set serverless-compute:${name} ${shellWord(value)}`),
    ...config.map((key) => `  pulumi config set --secret ${key}`),
    "  pulumi import --file import.json --yes --skip-preview --protect=false --generate-code=false",
    "  pulumi preview --expect-no-changes",
  ];
  return lines.join("\n");
}

const lossLine = ({ address, reason }: Report["noCounterpart"][number]): string => `  ${address}: ${reason}`;

const skippedLine = ({ kind, id, name, reason }: Skipped): string =>
  `  ${kind} ${name === undefined ? "without a name" : JSON.stringify(name)} (${id ?? "without an id"}): ${reason}`;
