/**
 * The page of the clients: a table with a row for each operation. A suite is named after a client and its version, a test after the
 * operations that it calls.
 * @param {import("../conformance/page.mjs").Report} report
 */
export function clientsPage(report) {
  const results = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ ancestorTitles, title, status }) => ({ client: ancestorTitles.at(-1) ?? "", title, status }));
  const words = new Map([
    ["passed", "works"],
    ["failed", "**fails**"],
  ]);
  const rows = results
    .flatMap(({ client, title, status }) => {
      const [, name = client, version = "", part = ""] = /^(.*?) (\d+\.\d+\.\d+)(?::? (.*))?$/.exec(client) ?? [];
      // Tests of a worker are named after what it does, in sentences.
      const operations = (/^[\w.-]+(?:, [\w.-]+)*$/.test(title) ? title.split(", ") : [title]).map((operation) =>
        operation.replaceAll("|", "\\|"),
      );
      const said = words.get(status) ?? "not asked";
      return operations.map((operation) => `| ${name} | ${version} | ${part} | ${operation} | ${said} |`);
    })
    .sort((a, b) => a.localeCompare(b));
  return `# Clients that work unmodified

Written by \`node test/sdk/report.mjs\` from a run of \`test/sdk\`: the published packages, as their registries have them, against the
local service. Only their addresses are set.

| client | version | part | operation | result |
|---|---|---|---|---|
${[...new Set(rows)].join("\n")}

The synchronous client of PyPI \`runpod\` does not say in its requests what it is: its \`stream\` needs a service that was started with
\`--stream envelope\`. All others get the form of \`/stream\` that they read by their User-Agent.
`;
}
