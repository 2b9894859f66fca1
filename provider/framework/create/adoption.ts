import { optionsOf, showValue } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { hasUnknown, type Properties, pathText, toProperties } from "../../engine/values";
import { callOptions } from "../calls";
import type { Change, Context } from "../contract";
import { type Created, idList, type NamedInputs, type NamedObject, type ObjectDefinition } from "../definition";
import { UserError } from "../errors";
import { hasName } from "../names";
import { completeObject, observeObject, outputsOf, pick } from "../observation";
import { addOwner } from "../owners";
import { checkInputs } from "../properties/check";
import { compatibleValues } from "../properties/compatible";
import { alternativeOf, isDetermined, withOmitted, withoutOmitted } from "../properties/defaults";
import { diffProperties } from "../properties/diff";
import { propertyOf } from "../properties/schema";
import { hiddenValue, isSecretAt } from "../properties/secret-paths";

/** Update of an existing object to the inputs of a program. */
interface Adoption {
  /** The properties that the service shows of the object. */
  existing: Properties;
  /** The values of the object that the program omits. */
  kept: Properties;
  /** The inputs of the program and the kept values. */
  inputs: Properties;
  changes: Change[];
  /** Inputs that the dialect neither shows nor changes, so that the object keeps its own values. */
  unverifiable: string[];
}

/**
 * Plans the adoption of a complete object; `properties` are checked inputs with their list of omitted properties, perhaps unknown. A property
 * that the program omits keeps the object's value, unless it cannot be combined with the program's inputs.
 */
function planAdoption<ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject>,
  object: ApiObject,
  properties: Properties,
  context: Context,
): Adoption {
  const { inputs: shape, validate } = definition;
  const { dialect } = context.clients;
  const desired = withoutOmitted(properties);
  const observed = observeObject(definition, object, desired, context).inputs;
  const existing = toProperties(observed);
  const entries = Object.entries(properties).filter(([key]) => key in shape.shape);
  // An unknown value counts as a change, and every check passes it.
  const unknown = Object.fromEntries(entries.filter(([, value]) => hasUnknown(value)));
  const inputs = toProperties(
    Object.fromEntries(entries.map(([key, value]) => [key, key in unknown ? existing[key] : value])),
  );
  const isValid = (candidate: Properties): boolean => {
    const { inputs: checked, failures } = checkInputs(shape, {}, { ...candidate, ...unknown }, undefined);
    return failures.length === 0 && (validate?.(checked, dialect, {}) ?? []).length === 0;
  };
  const omitted = Object.keys(shape.shape).filter(
    (key) => existing[key] !== undefined && !(key in desired) && !isDetermined(shape, key, desired),
  );
  // The program sets these settings by other properties.
  const expressed = omitted.filter((key) => alternativeOf(shape, key) in desired);
  const unset = omitted.filter((key) => !expressed.includes(key));
  const { selected: kept, contradicting } = compatibleValues(pick(existing, unset), (selected) =>
    isValid({ ...inputs, ...selected }),
  );
  const sameValues = unset.filter((key) => !(key in kept) && !contradicting.includes(key));
  const merged = { ...inputs, ...kept };
  const compared = { ...existing };
  for (const key of [...sameValues, ...expressed]) delete compared[key];
  // A value that the service does not show may differ from the default, with which it would be compared.
  const unshown = Object.entries(shape.shape).flatMap(([key, schema]) =>
    key in desired && !(key in observed) && propertyOf(schema).defaultValue !== undefined && !optionsOf(schema).notSent
      ? [key]
      : [],
  );
  const differences = diffProperties(shape, compared, merged, dialect);
  const unknownChanges = [...Object.keys(unknown), ...unshown]
    .filter((key) => !differences.some(({ path }) => path[0] === key))
    .map((key): Change => ({ path: [key], kind: "update", replace: false }));
  const unverifiable = Object.entries(shape.shape).flatMap(([key, schema]) =>
    optionsOf(schema).replaceOnChanges === dialect && !(key in existing) ? [key] : [],
  );
  const changes = [...differences, ...unknownChanges].filter(({ path: [key = ""] }) => !unverifiable.includes(key));
  return { existing, kept: { ...kept, ...pick(existing, sameValues) }, inputs: merged, changes, unverifiable };
}

/** Describes an adoption: its changes, with the present values that are plain text, and values that cannot be compared. */
export function describeAdoption(
  { existing, changes, unverifiable }: Adoption,
  shape: z.ZodObject,
  { clients: { dialect }, secrets }: Context,
): string {
  const texts = changes.flatMap(({ path }) => {
    const [key = ""] = path;
    const schema = shape.shape[key];
    const { secret, foreignSecret, notSent } = schema ? optionsOf(schema) : {};
    if (notSent) return [];
    const value = existing[key];
    const isShown = path.length === 1 && typeof value !== "object" && value !== undefined && value !== "";
    const isPlain = isShown && !secret && !foreignSecret && !isSecretAt(path, secrets.paths);
    return [isPlain ? `${key} (now ${showValue(value)})` : pathText(path)];
  });
  const effect = texts.length === 0 ? "without a change" : `and changes in place: ${texts.join(", ")}`;
  if (unverifiable.length === 0) return effect;
  return `${effect}; REST ${dialect} neither shows nor changes its ${unverifiable.join(" and ")}, so they stay as they are`;
}

/**
 * Adopts an existing object and updates it to the inputs: the one with an id, otherwise the one that has the inputs' name. Returns
 * undefined if there is none.
 * Rejects if several objects have the name, or if the object cannot be updated to the inputs.
 */
export async function adopt<Inputs extends NamedInputs, ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject, Inputs>,
  inputs: Inputs,
  properties: Properties,
  context: Context,
  id?: string,
): Promise<Created | undefined> {
  const { list, read } = definition.client(context.clients.management);
  const object = id === undefined ? undefined : await read?.(id, callOptions(context));
  const objects = object ? [object] : await list(callOptions(context));
  const candidates =
    id === undefined
      ? adoptableIn(objects, definition, inputs.name, context)
      : objects.filter((other) => other.id === id);
  const found = await findAdoption(definition, inputs.name, properties, candidates, context);
  // Another resource may have been compared during the reads.
  if (!found || (id === undefined && context.owners.has(found.object.id))) return undefined;
  const { adoption } = found;
  context.progress(`adopting the existing ${definition.kind} ${found.object.id}`);
  const outputs = outputsOf(definition, found.object, properties, context);
  const changed = new Set(adoption.changes.map(({ path }) => path[0]));
  const news = definition.checkedInputs.parse(adoption.inputs);
  const update = {
    olds: { ...adoption.existing, ...outputs },
    news,
    settings: news,
    reset: [],
    properties: withOmitted(properties, adoption.kept),
    changed: (key: string) => changed.has(key),
  };
  // Also after a failure, which may leave the adopted object in the state.
  addOwner(context.owners, found.object.id, context.urn);
  return {
    id: found.object.id,
    isAdopted: true,
    outputs: {
      ...outputs,
      ...toProperties(await definition.update(found.object.id, update, context)),
      ...adoption.kept,
    },
  };
}

/** The objects with a name that no resource of the program has. */
export const adoptableIn = <ApiObject extends NamedObject>(
  objects: readonly ApiObject[],
  definition: ObjectDefinition<ApiObject>,
  name: string,
  { owners }: Pick<Context, "owners">,
): ApiObject[] => objects.filter((object) => hasName(definition, object, name) && !owners.has(object.id));

/** The only candidate and its adoption; undefined if there is none. Rejects if there are several, or if it cannot be adopted. */
export async function findAdoption<ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject>,
  name: string,
  properties: Properties,
  candidates: readonly ApiObject[],
  context: Context,
): Promise<{ object: ApiObject; adoption: Adoption } | undefined> {
  const [first] = candidates;
  if (!first) return undefined;
  const label = `${definition.kind} "${name}"`;
  requireSingle(label, candidates);
  const quiet = { ...context, warn: () => {} };
  const object = await completeObject(definition, first, withoutOmitted(properties), quiet);
  const adoption = planAdoption(definition, object, properties, context);
  requireAdoptable(label, object, adoption, context);
  return { object, adoption };
}

/** Values of an object that differ from the inputs and cannot change in place. */
function fixedDifferences({ existing, changes }: Adoption): Map<string, unknown> {
  const fixed = changes.filter(({ path, replace }) => replace && (path[0] ?? "") in existing);
  return new Map(fixed.map(({ path }) => [path[0] ?? "", existing[path[0] ?? ""]]));
}

function requireSingle(label: string, candidates: readonly NamedObject[]): void {
  if (candidates.length > 1)
    throw new UserError(
      `${label}: adoptExisting requires exactly one object with this name, but there are ${candidates.length} (${idList(candidates)}); ` +
        "rename or delete the others, or set another name",
      { help: "severalToAdopt" },
    );
}

function requireAdoptable(label: string, object: NamedObject, adoption: Adoption, context: Context): void {
  const fixed = fixedDifferences(adoption);
  if (fixed.size === 0) return;
  const format = (key: string, value: unknown): string =>
    isSecretAt([key], context.secrets.paths) ? hiddenValue : JSON.stringify(value);
  const values = [...fixed].map(([key, value]) => `${key} ${format(key, value)}`).join(", ");
  throw new UserError(
    `${label}: the existing object (${object.id}) has ${values}, which cannot change in place; ` +
      `set ${[...fixed.keys()].join(", ")} to that value, or set another name`,
    { help: "fixedWhenAdopted" },
  );
}
