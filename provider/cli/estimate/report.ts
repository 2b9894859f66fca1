import { escapeMarkdown } from "../pulumi-preview/markdown";
import { type Cost, hoursPerMonth, isUnknown, type ResourceCost, type UnknownCost } from "./costs";

/** The costs of a stack, in US dollars. */
interface Estimate {
  stack: string;
  resources: ResourceCost[];
  /** Sum of the known costs per hour, before and after the deployment. */
  total: { before: Cost; after: Cost };
  /** Resources without a known cost after the deployment, with the reason. */
  unknown: { resource: string; reason: string }[];
}

const zeroCost: Cost = { min: 0, max: 0 };

function sumOf(costs: (Cost | UnknownCost | undefined)[]): Cost {
  const knownCosts = costs.filter((cost): cost is Cost => cost !== undefined && !isUnknown(cost));
  return knownCosts.reduce((total, { min, max }) => ({ min: total.min + min, max: total.max + max }), zeroCost);
}

export function estimateOf(stack: string, resources: ResourceCost[]): Estimate {
  return {
    stack,
    resources,
    total: { before: sumOf(resources.map(({ before }) => before)), after: sumOf(resources.map(({ after }) => after)) },
    unknown: resources.flatMap(({ resource, kind, after }) =>
      isUnknown(after) ? [{ resource: `${kind} "${resource}"`, reason: after.unknown }] : [],
    ),
  };
}

const heading = [
  "resource",
  "quantity",
  "workersMin/hour",
  "workersMax/hour",
  "workersMin/month",
  "workersMax/month",
  "change of workersMax/month",
];

const hourlyText = (amount: number): string => amount.toFixed(3);
const monthlyText = (amount: number): string => (amount * hoursPerMonth).toFixed(2);

/** Difference of the costs per month at `workersMax`. */
function changeText(before: Cost | UnknownCost | undefined, after: Cost | UnknownCost | undefined): string {
  if (isUnknown(before) || isUnknown(after)) return "?";
  const difference = (after ?? zeroCost).max - (before ?? zeroCost).max;
  return `${difference < 0 ? "-" : "+"}${monthlyText(Math.abs(difference))}`;
}

const costCells = (cost: Cost | UnknownCost | undefined): string[] => {
  if (isUnknown(cost)) return ["?", "?", "?", "?"];
  const { min, max } = cost ?? zeroCost;
  return [hourlyText(min), hourlyText(max), monthlyText(min), monthlyText(max)];
};

function tableRows({ resources, total }: Estimate): string[][] {
  return [
    ...resources.map(({ resource, kind, quantity, before, after }) => [
      `${resource} ${kind}`,
      after === undefined ? "deleted" : quantity,
      ...costCells(after),
      changeText(before, after),
    ]),
    ["total", "", ...costCells(total.after), changeText(total.before, total.after)],
  ];
}

const title = ({ stack }: Estimate): string => `Cost of ${stack} in US dollars; a month has ${hoursPerMonth} hours.`;

/** Lists the unknown costs. `escapeText` escapes text for the format. */
const unknownLines = ({ unknown }: Estimate, escapeText: (text: string) => string): string[] =>
  unknown.length === 0
    ? []
    : [
        "",
        "Unknown, and not in the total:",
        ...unknown.map(({ resource, reason }) => `- ${escapeText(`${resource}: ${reason}`)}`),
      ];

/** The report for a terminal. */
export function tableText(estimate: Estimate): string {
  const table = [heading, ...tableRows(estimate)];
  const widths = heading.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [title(estimate), "", ...table.map(line), ...unknownLines(estimate, (text) => text)].join("\n");
}

/** The report as Markdown, for the comment of a pull request. */
export function markdownText(estimate: Estimate): string {
  const line = (row: string[]): string => `| ${row.map(escapeMarkdown).join(" | ")} |`;
  return [
    `### ${title(estimate)}`,
    "",
    line(heading),
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ...tableRows(estimate).map(line),
    ...unknownLines(estimate, escapeMarkdown),
  ].join("\n");
}
