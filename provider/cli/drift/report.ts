import { parseUrn, shortType } from "../../framework/urn";
import { type PropertyChange, type ResourceChange, releaseText, secretValue } from "../pulumi-preview/changes";
import { tableLines } from "../pulumi-preview/markdown";
import { countOf } from "../terminal";

/** The differences between a stack's state and the service. */
export interface Report {
  stack: string;
  /** URNs of all resources that were compared. */
  resources: string[];
  /** Resources whose objects differ or are missing; `old` is the value in the state, `new` that of the service. */
  drifted: ResourceChange[];
}

const valueText = (value: unknown): string =>
  value === undefined ? "not set" : value === secretValue ? value : JSON.stringify(value);

const changeText = ({ property, old, new: value, release }: PropertyChange): string =>
  `${property}: ${valueText(old)} → ${valueText(value)}${release ? `; ${releaseText(release)}` : ""}`;

/** The differences of one resource, one line each. */
const differenceLines = ({ operation, properties, warnings }: ResourceChange): string[] => [
  ...(operation === "delete" ? ["the service no longer has this object"] : properties.map(changeText)),
  ...warnings.map((warning) => `warning: ${warning}`),
];

const summaryText = ({ stack, resources, drifted }: Report): string =>
  drifted.length === 0
    ? `No drift in ${countOf(resources.length, "resource")} of ${stack}.`
    : `Drift in ${drifted.length} of ${resources.length} resources of ${stack} (state → service):`;

/** The report for a terminal. */
export const plainText = (report: Report): string =>
  [
    summaryText(report),
    ...report.drifted.map((change) =>
      [`\n${change.type} "${change.resource}"`, ...differenceLines(change).map((line) => `  ${line}`)].join("\n"),
    ),
  ].join("\n");

/** The report as Markdown, for an issue or a chat. */
export function markdownText(report: Report): string {
  const head = [`### Drift in \`${report.stack}\``, "", summaryText(report)].join("\n");
  return report.drifted.length === 0
    ? head
    : [head, "", ...tableLines(report.drifted, "state → service", head.length)].join("\n");
}

/** Text in an XML attribute or element; control characters, which XML 1.0 cannot contain, become spaces. */
const xml = (text: string): string =>
  text.replace(/[\p{Cc}<>&"]/gu, (character) =>
    character === "\n" || !/\p{Cc}/u.test(character) ? `&#${character.charCodeAt(0)};` : " ",
  );

/** The report as JUnit XML: one test case for each resource, with a failure if it differs. */
export function junitText({ stack, resources, drifted }: Report): string {
  const cases = resources.map((urn) => {
    const { name, type } = parseUrn(urn);
    const head = `  <testcase classname="${xml(shortType(type))}" name="${xml(name)}"`;
    const change = drifted.find((candidate) => candidate.urn === urn);
    if (!change) return `${head}/>`;
    const lines = differenceLines(change);
    return `${head}>\n    <failure message="${xml(lines[0] ?? "differs")}">${xml(lines.join("\n"))}</failure>\n  </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="${xml(`drift of ${stack}`)}" tests="${resources.length}" failures="${drifted.length}">`,
    ...cases,
    "</testsuite>",
  ].join("\n");
}
