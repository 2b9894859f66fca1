import { basename } from "node:path";

/**
 * The REST v2 traffic of a test file: each entry of `responses` is a route and a status, such as `GET /v2/serverless 200`, each of
 * `untested` a property that the file neither sent nor received, such as `POST /v2/serverless sends gpu.pools`.
 * @typedef {{ file: string, responses: string[], untested: string[] }} TrafficRecord
 * @typedef {{ method: string, path: string, responses: Record<string, unknown> }} Route
 */

/** Reasons why no test covers a response of the contract; the first matching reason applies. The number is its footnote.
 * @type {[fits: (route: Route, status: string) => boolean, reason: string][]} */
const reasons = [
  [({ path }) => path.endsWith("/{buildId}"), "The local service has no builds."],
  [({ path }) => path.endsWith("/logs"), "Other tests read the streams; the contract states no schema for them."],
  [(_route, status) => status === "403", "The local service has one key, which has every permission."],
  [(_route, status) => status === "401", "All routes share the check of the key."],
  [(_route, status) => status === "429", "All routes share the rate limit."],
  [
    ({ path, method }, status) => path === "/v2/registries/{id}" && method === "DELETE" && status === "400",
    "The local service has no pods.",
  ],
  [() => true, "No test causes it: the local service states another status, or the contract states no cause."],
];

/** Why a property of the contract is in no test, the first reason that fits.
 * @type {[property: RegExp, reason: string][]} */
const propertyReasons = [
  [/\/builds\b/, "The local service has no builds."],
  [/\/billing\b/, "The local service charges nothing, so there are no records."],
  [
    / dockerRegistryUri$|\.dockerRegistryUri$/,
    "Optional; the contract does not state when the hosted service returns it.",
  ],
  [/./, "No test causes it."],
];

/** The table of the properties that no test file sends or receives.
 * @param {TrafficRecord[]} records */
function untestedProperties([first, ...others]) {
  const untested = (first?.untested ?? []).filter((name) => others.every((record) => record.untested.includes(name)));
  /** @type {Map<string, string[]>} */
  const rows = new Map();
  for (const name of untested) {
    const [method, path, direction, property] = name.split(" ");
    const body = direction === "sends" ? "request" : "response";
    const [, reason] = propertyReasons.find(([pattern]) => pattern.test(name)) ?? [];
    const key = `| \`${method} ${path}\` | ${body} | ${reason} |`;
    rows.set(key, [...(rows.get(key) ?? []), `\`${property}\``]);
  }
  return `Properties of the contract that no test sends or receives:

| route | body | reason | properties |
|---|---|---|---|
${[...rows].map(([key, properties]) => `${key} ${properties.join(", ")} |`).join("\n")}`;
}

/** @param {Route} route @param {string} status */
const footnote = (route, status) => reasons.findIndex(([fits]) => fits(route, status)) + 1;

/** The section of docs/conformance.md about the contract of REST v2: routes, their responses, and the test files that saw them.
 * @param {Route[]} routes
 * @param {TrafficRecord[]} records */
export function contractSection(routes, records) {
  /** @type {Map<string, Set<string>>} */
  const files = new Map();
  for (const { file, responses } of records)
    for (const entry of responses) files.set(entry, (files.get(entry) ?? new Set()).add(basename(file, ".test.ts")));
  const rows = routes.map((route) => {
    const name = `${route.method} ${route.path}`;
    const statuses = Object.keys(route.responses).filter((status) => status !== "default");
    const others = [...files.keys()]
      .filter((entry) => entry.startsWith(`${name} `))
      .map((entry) => entry.slice(name.length + 1));
    const all = [...new Set([...statuses, ...others])].sort();
    const exercised = all.filter((status) => files.has(`${name} ${status}`));
    const seen = exercised.map(
      (status) => `${status}: ${[...(files.get(`${name} ${status}`) ?? [])].sort().join(", ")}`,
    );
    const missing = all
      .filter((status) => !exercised.includes(status))
      .map((status) => `${status} (${footnote(route, status)})`);
    return `| \`${name}\` | ${seen.join("<br>")} | ${missing.join(", ")} |`;
  });
  const legend = reasons.map(([, reason], index) => `${index + 1}. ${reason}`);
  return `## REST v2: responses of the contract

Routes and statuses of [test/contract/rest-v2.json](../test/contract/rest-v2.json), with the test files that received each response and
compared it with the contract. A number refers to the reason below the table.

| route | exercised by | not exercised |
|---|---|---|
${rows.join("\n")}

${legend.join("\n")}

${untestedProperties(records)}
`;
}
