/**
 * Returns the tables of the local service's options for docs/service.md.
 * @param {typeof import("../../service/cli/start-options.js")} module
 * @param {readonly string[]} simulated Names of the options that imitate situations of the hosted service.
 */
export function optionTables({ startOptions, defaultText }, simulated) {
  const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|");
  const rowOf = (/** @type {(typeof startOptions)[number]} */ option) => {
    const { flag, text, details } = option.texts;
    const unit = flag.endsWith("<seconds>") ? " (ms)" : "";
    const purpose = details === undefined ? text : `${text}. ${details}`;
    const columns = [`\`${flag}\``, `\`${option.path.join(".")}\`${unit}`, defaultText(option) ?? "–", purpose];
    return `| ${columns.map(cell).join(" | ")} |`;
  };
  const table = (/** @type {typeof startOptions} */ options) =>
    [
      "| option of `start` | option of `createService` | default | meaning |",
      "|---|---|---|---|",
      ...options.map(rowOf),
    ].join("\n");
  const isSimulated = (/** @type {(typeof startOptions)[number]} */ { path }) => simulated.includes(path[0]);
  return {
    options: table(startOptions.filter((option) => !isSimulated(option))),
    simulation: table(startOptions.filter(isSimulated)),
  };
}

/**
 * Replaces the text between the comments `<!-- NAME: generated -->` and `<!-- end -->` of a page.
 * @param {string} page
 * @param {Record<string, string>} parts
 */
export function withParts(page, parts) {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const start = `<!-- ${name}: generated -->`;
    const from = text.indexOf(start);
    const to = text.indexOf("<!-- end -->", from);
    if (from < 0 || to < 0) throw new Error(`the comment ${start} or its end is missing`);
    return `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`;
  }, page);
}
