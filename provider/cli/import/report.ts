import type { ObjectKind } from "../../resources";

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
  language: string;
  resources: { type: string; name: string; id: string }[];
  /** Keys of the stack's config that must be set as secrets. */
  config: string[];
  skipped: Skipped[];
  /** Resources and properties of a moved state that this package does not have. */
  noCounterpart: { address: string; reason: string }[];
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The report for people. */
export function reportText({ folder, resources, config, skipped, noCounterpart }: Report): string {
  const kinds = resources.map(({ type }) => type.slice(type.lastIndexOf(":") + 1));
  const counts = [...new Set(kinds)].map((kind) => `${kinds.filter((one) => one === kind).length} ${kind}`);
  const [first, ...others] = config;
  const more = others.length === 0 ? "" : `   # and ${countOf(others.length, "other key")} of the program`;
  const lines = [
    `Wrote ${countOf(resources.length, "resource")} to ${folder}: ${counts.join(", ")}.`,
    "",
    ...(skipped.length === 0 ? [] : ["Not imported:", ...skipped.map(skippedLine), ""]),
    ...(noCounterpart.length === 0 ? [] : ["No counterpart:", ...noCounterpart.map(lossLine), ""]),
    "Next, in this folder, after the packages and the SDK are installed:",
    "  pulumi stack init dev",
    ...(first === undefined ? [] : [`  pulumi config set --secret ${first}${more}`]),
    "  pulumi import --file import.json --yes --skip-preview --protect=false --generate-code=false",
    "  pulumi preview --expect-no-changes",
  ];
  return lines.join("\n");
}

const lossLine = ({ address, reason }: Report["noCounterpart"][number]): string => `  ${address}: ${reason}`;

const skippedLine = ({ kind, id, name, reason }: Skipped): string =>
  `  ${kind} ${name === undefined ? "without a name" : JSON.stringify(name)} (${id ?? "without an id"}): ${reason}`;
