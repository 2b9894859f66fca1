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

/** Finds an endpoint by its id or unique name; throws an Error with a message for users. */
export function findEndpoint(idOrName: string, endpoints: readonly NamedEndpoint[]): NamedEndpoint {
  const byId = endpoints.find(({ id }) => id === idOrName);
  const [endpoint, ...duplicates] = byId ? [byId] : endpoints.filter(({ name }) => name === idOrName);
  if (!endpoint) throw new Error(`no endpoint has the id or name "${idOrName}"; ${suggestion(idOrName, endpoints)}`);
  if (duplicates.length === 0) return endpoint;
  throw new Error(`several endpoints have the name "${idOrName}": ${describe([endpoint, ...duplicates])}; pass the id`);
}
