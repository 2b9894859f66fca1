// Generates the reference page of the local service's options.
import { isAbsolute, relative } from "node:path";

/** @typedef {(typeof import("../../service/cli/start-options.js"))["startOptions"][number]} StartOption */
/** @typedef {import("commander").Command} Command */
/** @typedef {import("commander").Option} Option */

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|");

/** @param {string[]} head @param {string[][]} rows */
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(" | ")} |`).join("\n");

/**
 * Options of all commands except those that `createService` also has: flag, commands, default and meaning. An option of several
 * commands is one row.
 * @param {Command} program
 * @param {StartOption[]} startOptions
 */
function commandOptions(program, startOptions) {
  const shared = new Set(startOptions.map(({ texts }) => texts.flag));
  /** @type {Map<string, { names: string[], option: Option }>} */
  const rows = new Map();
  for (const command of program.commands)
    for (const option of command.options.filter(({ flags }) => !(command.name() === "start" && shared.has(flags)))) {
      const key = `${option.flags} ${option.description}`;
      const row = rows.get(key) ?? { names: [], option };
      row.names.push(command.name());
      rows.set(key, row);
    }
  const all = program.commands.map((command) => command.name());
  return [...rows.values()].map(({ names, option: { flags, description, defaultValue, mandatory } }) => {
    const [, meaning = "", inText] = /^(.*?)(?: \(default: (.+)\))?$/.exec(description) ?? [];
    const absent = defaultValue === undefined || defaultValue === false ? "–" : shownDefault(defaultValue);
    const missing = all.filter((name) => !names.includes(name));
    const code = (/** @type {string[]} */ words) => words.map((word) => `\`${word}\``).join(", ");
    const of = missing.length < names.length ? `all but ${code(missing)}` : code(names);
    return [`\`${flags}\``, of, inText ?? (mandatory ? "required" : absent), meaning];
  });
}

/** A path below the current folder is relative to it. @param {unknown} value */
const shownDefault = (value) =>
  typeof value === "string" && isAbsolute(value) ? relative(process.cwd(), value) : String(value);

/**
 * Markdown of the page.
 * @param {typeof import("../../service/cli/start-options.js")} module
 * @param {readonly string[]} simulated Names of the options that imitate situations of the hosted service.
 * @param {Command} program The command line.
 */
export function optionsPage({ startOptions, defaultText }, simulated, program) {
  const isSimulated = (/** @type {StartOption} */ { path }) => simulated.includes(path[0]);
  const rowOf = (/** @type {StartOption} */ option) => {
    const { flag, text, details } = option.texts;
    const unit = flag.endsWith("<seconds>") ? " (ms)" : "";
    const purpose = details === undefined ? text : `${text}. ${details}`;
    const names = `\`${flag}\`, \`${option.path.join(".")}\`${unit}`;
    return [names, defaultText(option) ?? "–", purpose];
  };
  const head = ["option of `start`, of `createService`", "default", "meaning"];
  return `<!-- Generated from the command line by \`npm run generate\`; do not edit. -->

# Options of the local service

This page lists every option of [the local service](service.md), with its default.

## Options of start

\`createService\` of the npm package has the same options under other names. It rejects unknown options and invalid values.

${table(head, startOptions.filter((option) => !isSimulated(option)).map(rowOf))}

## Simulation

These options imitate situations of the hosted service. A seed file sets them as \`simulate\`, with the names of \`createService\`, for
example \`simulate: { templateRelease: 0, pageSize: 1 }\`. Options of \`start\` override the file.

${table(head, startOptions.filter(isSimulated).map(rowOf))}

## Options of commands

\`start\` has these options in addition to those above. \`createService\` does not have them.

${table(["option", "command", "default", "meaning"], commandOptions(program, startOptions))}
`;
}
