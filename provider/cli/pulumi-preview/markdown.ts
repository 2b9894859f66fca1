import { parseUrn, shortType } from "../../framework/urn";
import { countOf } from "../terminal";
import { changesOf, type PropertyChange, type ResourceChange, releaseText, secretValue, unknownLabel } from "./changes";
import type { Message, Preview } from "./preview";

/** Characters of a value in the table. */
const valueLength = 120;
/** Characters of a comment: GitHub accepts 65,536. */
const commentLength = 60_000;

/** Text as Markdown code in a cell of a table. */
function codeText(text: string): string {
  const excerpt = text.length > valueLength ? `${text.slice(0, valueLength)}…` : text;
  const fence = "`".repeat(Math.max(0, ...[...excerpt.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const padding = /^`|`$/.test(excerpt) ? " " : "";
  return `${fence}${padding}${excerpt.replaceAll("|", "\\|")}${padding}${fence}`;
}

/** Text for one cell of a table, with its markup escaped. */
export const escapeMarkdown = (text: string): string =>
  text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>|#~@]/g, (character) => `\\${character}`);

/** One side of a change. */
function valueText(value: unknown): string {
  if (value === undefined) return "not set";
  if (value === unknownLabel) return unknownLabel;
  const json = JSON.stringify(value).replaceAll(JSON.stringify(unknownLabel), unknownLabel);
  return codeText(value === secretValue ? value : json);
}

const changeCells = (change: PropertyChange, isNew: boolean): string[] => {
  const { property, old, new: value, forcesReplacement, release } = change;
  const sides = isNew ? valueText(value) : `${valueText(old)} → ${valueText(value)}`;
  return [
    `${codeText(property)}${forcesReplacement ? " forces replacement" : ""}`,
    release ? `${sides}; ${escapeMarkdown(releaseText(release))}` : sides,
  ];
};

const nameOf = ({ resource, type }: Pick<ResourceChange, "resource" | "type">): string =>
  `${codeText(resource)} ${type}`;

/** The rows of one resource; the first names it. */
function rowsOf(change: ResourceChange): string[] {
  const operation = change.operation === "same" ? "none" : change.operation;
  const isDestructive = operation === "replace" || operation === "delete";
  const cells = [
    ...change.properties.map((property) => changeCells(property, operation === "create")),
    ...change.warnings.map((warning) => ["⚠️ warning", escapeMarkdown(warning)]),
  ];
  const [firstCells = ["", ""], ...otherCells] = cells;
  return [
    [isDestructive ? `**${operation}**` : operation, nameOf(change), ...firstCells],
    ...otherCells.map((cells) => ["", "", ...cells]),
  ].map((row) => `| ${row.join(" | ")} |`);
}

/** The number of resources per operation. */
function summaryText({ unchanged }: Preview, changes: ResourceChange[]): string {
  const counts = new Map<string, number>();
  for (const { operation } of changes.filter((change) => change.operation !== "same"))
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
  if (counts.size === 0) return `No changes; ${unchanged} unchanged.`;
  return `${[...counts].map(([operation, count]) => `${count} to ${operation}`).join(", ")}; ${unchanged} unchanged.`;
}

/** An error with the resource that it is about. */
function errorText({ urn, text }: Message): string {
  const { name, type } = parseUrn(urn ?? "");
  const subject = urn === undefined || type === "pulumi:pulumi:Stack" ? "" : `${shortType(type)} "${name}": `;
  // Pulumi names the resource again, and shows the value as Go prints it.
  const [prefix = "", property] =
    /^\S+ resource '.*?'(?:: property (.+?) value .*?)? has a problem: /s.exec(text) ?? [];
  return `${subject}${property === undefined ? "" : `${property}: `}${text.slice(prefix.length)}`;
}

/**
 * The comment of a pull request about a preview. The text depends on the state and the program only: not on times, on the order of
 * steps, or on default names that a preview draws.
 */
export function commentText(preview: Preview, stack: string): string {
  const changes = changesOf(preview);
  const isFailed = preview.errors.length > 0;
  const head = [`<!-- pulumi preview of ${stack} -->`, `### Preview of \`${stack}\`${isFailed ? " failed" : ""}`, ""];
  // After an error of one resource, Pulumi interrupts components and reports them, too.
  const causes = preview.errors.filter(({ text }) => !text.endsWith("grpc: the client connection is closing"));
  const errors = [...new Set((causes.length > 0 ? causes : preview.errors).map(errorText))].sort();
  if (isFailed) head.push("````text", ...errors.map((text) => text.slice(0, commentLength / 10)), "````", "");
  if (changes.length > 0 || !isFailed) head.push(summaryText(preview, changes));
  if (changes.length === 0) return head.join("\n").trimEnd();
  head.push("");
  return [...head, ...tableLines(changes, "old → new", head.join("\n").length)].join("\n");
}

/**
 * The table of changes; `valuesHeading` is the heading of the column with both values, `precedingLength` the number of
 * characters above the table. Resources that would make the whole text too long are left out.
 */
export function tableLines(changes: ResourceChange[], valuesHeading: string, precedingLength: number): string[] {
  const lines = [`| operation | resource | property | ${valuesHeading} |`, "| --- | --- | --- | --- |"];
  let length = precedingLength + lines.join("\n").length;
  for (const [index, change] of changes.entries()) {
    const rows = rowsOf(change);
    length += rows.join("\n").length + 1;
    if (length > commentLength) {
      lines.push("", `${countOf(changes.length - index, "more resource")} omitted.`);
      break;
    }
    lines.push(...rows);
  }
  return lines;
}
