import { fields, outline, resolve } from "./outline.mjs";

/**
 * A route in a form common to both documents: parts of a request or response → their outlines.
 * @typedef {Map<string, string>} Outline
 * @typedef {{ route: string, lines: Outline }} Operation
 */

/** @param {string} path */
const plainPath = (path) => path.replace(/^\/v2(?=\/)/, "").replaceAll(/\{\w+\}/g, "{}");

/**
 * @param {unknown} schema
 * @param {unknown} document
 * @param {string} at
 */
const part = (schema, document, at) =>
  [...outline(schema, document)].map(([name, words]) => /** @type {const} */ ([`${at}${name && ` ${name}`}`, words]));

/**
 * The operations of test/contract/rest-v2.json.
 * @param {unknown} contract
 * @returns {Map<string, Outline>}
 */
export function contractOperations(contract) {
  const { routes } = fields(contract);
  return new Map(
    [routes ?? []].flat().map((inherited) => {
      const { method, path, query, requestBody, responses } = fields(inherited);
      const parameters = Object.entries(fields(fields(query)["properties"]));
      const lines = new Map([
        ...parameters.flatMap(([name, schema]) => part(schema, contract, `query ${name}`)),
        ...(requestBody ? part(requestBody, contract, "body") : []),
        ...Object.entries(fields(responses)).flatMap(([status, schema]) =>
          responseLines(status, schema ?? undefined, contract),
        ),
      ]);
      return [`${method} ${plainPath(String(path))}`, lines];
    }),
  );
}

/**
 * The operations of an OpenAPI 3.x document.
 * @param {unknown} document
 * @returns {Map<string, Outline>}
 */
export function openApiOperations(document) {
  const methods = ["get", "post", "put", "patch", "delete"];
  return new Map(
    Object.entries(fields(fields(document)["paths"])).flatMap(([path, item]) =>
      methods
        .filter((method) => fields(item)[method])
        .map((method) => {
          const operation = fields(fields(item)[method]);
          const shared = [fields(item)["parameters"] ?? [], operation["parameters"] ?? []].flat();
          const parameters = shared
            .map((parameter) => resolve(parameter, document))
            .filter((parameter) => parameter["in"] === "query");
          const body = contentSchema(operation["requestBody"], document);
          const lines = new Map([
            ...parameters.flatMap((parameter) => part(parameter["schema"], document, `query ${parameter["name"]}`)),
            ...(body ? part(body, document, "body") : []),
            ...Object.entries(fields(operation["responses"])).flatMap(([status, response]) =>
              responseLines(status, contentSchema(response, document), document),
            ),
          ]);
          return /** @type {[string, Outline]} */ ([`${method.toUpperCase()} ${plainPath(path)}`, lines]);
        }),
    ),
  );
}

/**
 * Errors have one schema for all statuses, so only their statuses are compared.
 * @param {string} status
 * @param {unknown} schema
 * @param {unknown} document
 */
function responseLines(status, schema, document) {
  const bodyLine = /** @type {const} */ ([`status ${status}`, schema === undefined ? "no body" : "has a body"]);
  return schema === undefined || !status.startsWith("2") ? [bodyLine] : [bodyLine, ...part(schema, document, status)];
}

/**
 * Schema of the first media type of a request body or response.
 * @param {unknown} parent
 * @param {unknown} document
 */
const contentSchema = (parent, document) =>
  fields(Object.values(fields(resolve(parent, document)["content"]))[0])["schema"];

/**
 * Differences between two sets of operations, by route. Routes that exist only in the other document are reported if
 * the first word of their path is in the contract.
 * @param {Map<string, Outline>} ourLines
 * @param {Map<string, Outline>} theirLines
 * @returns {Map<string, string[]>}
 */
export function differences(ourLines, theirLines) {
  /** @param {string} route */
  const family = (route) => route.split("/")[1];
  const families = new Set([...ourLines.keys()].map(family));
  /** @type {Map<string, string[]>} */
  const changes = new Map();
  for (const route of [...new Set([...ourLines.keys(), ...theirLines.keys()])].sort()) {
    const [mine, other] = [ourLines.get(route), theirLines.get(route)];
    if (!other) changes.set(route, ["only in the contract"]);
    else if (mine) changes.set(route, changedLines(mine, other));
    else if (families.has(family(route))) changes.set(route, ["only in the file"]);
  }
  return new Map([...changes].filter(([, lines]) => lines.length > 0));
}

/**
 * @param {Outline} ourLines
 * @param {Outline} theirLines
 */
const changedLines = (ourLines, theirLines) =>
  [...new Set([...ourLines.keys(), ...theirLines.keys()])].sort().flatMap((name) => {
    const [mine, other] = [ourLines.get(name), theirLines.get(name)];
    if (mine === other) return [];
    if (other === undefined) return [`${name}: only in the contract (${mine})`];
    if (mine === undefined) return [`${name}: only in the file (${other})`];
    return [`${name}: contract ${mine || "anything"}; file ${other || "anything"}`];
  });
