import { bareName } from "./shapes";
import { suggest } from "./spelling";

/** An endpoint that a command line names by its id or its name. */
export interface NamedEndpoint {
  id: string;
  name: string;
}

/** Maximum number of endpoints in a message. */
const maxListed = 10;

const describe = (endpoints: readonly NamedEndpoint[]): string =>
  endpoints.map(({ id, name }) => `${JSON.stringify(name)} (${id})`).join(", ");

/** The endpoint with a similar name, or the existing endpoints. */
function suggestion(word: string, endpoints: readonly NamedEndpoint[]): string {
  if (endpoints.length === 0) return "there are no endpoints";
  const names = endpoints.map(({ name }) => name);
  const nearName = suggest(word, names);
  if (nearName !== undefined) return `did you mean ${describe(endpoints.filter(({ name }) => name === nearName))}?`;
  const omitted = endpoints.length - maxListed;
  const sorted = endpoints.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return `there are ${describe(sorted.slice(0, maxListed))}${omitted > 0 ? ` and ${omitted} more` : ""}`;
}

/**
 * Finds an endpoint by its id, its unique name with or without the suffix of the service, or the beginning of its name before a hyphen,
 * because Pulumi appends a stack and a random suffix; throws an Error with a message for users.
 */
export function findEndpoint(idOrName: string, endpoints: readonly NamedEndpoint[]): NamedEndpoint {
  const byId = endpoints.filter(({ id }) => id === idOrName);
  const byName = endpoints.filter(({ name }) => name === idOrName);
  const byBareName = endpoints.filter(({ name }) => bareName(name) === idOrName);
  const byBeginning = endpoints.filter(({ name }) => name.startsWith(`${idOrName}-`));
  const [endpoint, ...duplicates] = [byId, byName, byBareName, byBeginning].find((found) => found.length > 0) ?? [];
  if (!endpoint) throw new Error(`no endpoint has the id or name "${idOrName}"; ${suggestion(idOrName, endpoints)}`);
  if (duplicates.length === 0) return endpoint;
  const relation = byBareName.length > 0 ? "have the name" : "have a name that begins with";
  throw new Error(`several endpoints ${relation} "${idOrName}": ${describe([endpoint, ...duplicates])}; pass the id`);
}
