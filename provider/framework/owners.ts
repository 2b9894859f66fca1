/**
 * The URNs of the resources of the program that the deployment has compared, created or adopted, by the ids of their objects. A resource
 * whose object the engine replaces no longer counts, but its object stays in the map. Creates adopt no object of another resource.
 */
export type Owners = Map<string, Set<string>>;

/** Records that a resource has an object. */
export function addOwner(owners: Owners, id: string, urn: string): void {
  owners.set(id, (owners.get(id) ?? new Set()).add(urn));
}

/** Records that the engine replaces the object of a resource. */
export function removeOwner(owners: Owners, urn: string): void {
  for (const urns of owners.values()) urns.delete(urn);
}

/** Returns the id of the object of a resource; undefined if there is none, or if the state lacks the URN. */
export const idOwnedBy = (owners: Owners, urn: string): string | undefined =>
  urn === "" ? undefined : [...owners].find(([, urns]) => urns.has(urn))?.[0];

/** Returns the URN of a resource that has an object; undefined if there is none. */
export function ownerOf(owners: Owners, id: string): string | undefined {
  const [urn] = owners.get(id) ?? [];
  return urn;
}
