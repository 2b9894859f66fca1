import { optionsOf, showValue } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { Path, Properties } from "../../engine/values";
import { callOptions } from "../calls";
import type { Change, Context } from "../contract";
import { UserError } from "../messages";
import { type DiffRules, diffProperties } from "../properties/diff";
import { pathText } from "../properties/path-text";
import { hiddenValue, isSecretAt } from "../properties/secret-paths";
import { type Created, type Creation, idList, type NamedInputs, type NamedObject } from "./creation";

/** Update of an existing object to the inputs of a program. */
export interface Adoption {
  /** The properties that the service shows of the object. */
  existing: Properties;
  /** The values of the object that the program omits. */
  kept: Properties;
  /** The inputs of the program and the kept values. */
  inputs: Properties;
  changes: Change[];
}

/** Rules of a kind and its dialect for the inputs of an adoption. */
interface AdoptionRules {
  shape: z.ZodObject;
  diff: DiffRules;
  isOmitted(key: string): boolean;
  isValid(inputs: Properties): boolean;
}

const pick = (properties: Properties, keys: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => keys.includes(key)));

/**
 * Plans the adoption of an object. A property that the program omits keeps the object's value, unless it cannot be combined with
 * the program's inputs.
 */
export function planAdoption(
  existing: Properties,
  inputs: Properties,
  { shape, diff, isOmitted, isValid }: AdoptionRules,
): Adoption {
  let kept: Properties = {};
  let pending = Object.keys(shape.shape).filter((key) => existing[key] !== undefined && isOmitted(key));
  // A value may be valid only together with another one, so the rejected ones are tried again after each accepted one.
  for (let previous = -1; pending.length !== previous; ) {
    previous = pending.length;
    pending = pending.filter((key) => {
      const candidate = { ...kept, ...pick(existing, [key]) };
      const accepts = isValid({ ...inputs, ...candidate });
      if (accepts) kept = candidate;
      return !accepts;
    });
  }
  // A value that contradicts only other kept values is another form of them.
  const sameValues = pending.filter((key) => isValid({ ...inputs, ...pick(existing, [key]) }));
  const merged = { ...inputs, ...kept };
  const compared = { ...existing };
  for (const key of sameValues) delete compared[key];
  const changes = diffProperties(shape, compared, merged, diff);
  return { existing, kept: { ...kept, ...pick(existing, sameValues) }, inputs: merged, changes };
}

/** Describes the changes of an adoption, with the present values that are plain text. */
export function describeChanges(
  { existing, changes }: Adoption,
  shape: z.ZodObject,
  secrets: readonly Path[] = [],
): string | undefined {
  const texts = changes.flatMap(({ path }) => {
    const [key = ""] = path;
    const schema = shape.shape[key];
    const { secret, notSent } = schema ? optionsOf(schema) : {};
    if (notSent) return [];
    const value = existing[key];
    const isShown = path.length === 1 && typeof value !== "object" && value !== undefined && value !== "";
    return [isShown && !secret && !isSecretAt(path, secrets) ? `${key} (now ${showValue(value)})` : pathText(path)];
  });
  return texts.length === 0 ? undefined : texts.join(", ");
}

/**
 * Adopts the existing object that has the inputs' name and updates it to the inputs. Returns undefined if there is none.
 * Rejects if several objects have the name, or if the object cannot be updated to the inputs.
 */
export async function adopt<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  creation: Creation<Inputs, Outputs, ApiObject>,
  context: Context,
): Promise<Created<Outputs> | undefined> {
  const found = await findAdoption(creation, await creation.listNamed(callOptions(context)), context);
  if (!found) return undefined;
  const { object, adoption } = found;
  context.progress(`adopting the existing ${creation.kind} ${object.id}`);
  const outputs = creation.outputsOf(object);
  const changed = new Set(adoption.changes.map(({ path }) => path[0]));
  const update = {
    olds: { ...adoption.existing, ...outputs },
    news: creation.parse(adoption.inputs),
    changed: (key: string) => changed.has(key),
  };
  // Also after a failure, which may leave the adopted object in the state.
  context.ownedIds.set(object.id, "adopted");
  const changedOutputs = await creation.updateAdopted(object.id, update, adoption.kept);
  return { id: object.id, outputs: { ...outputs, ...changedOutputs } };
}

/** Candidates for an adoption. */
type Candidates<ApiObject extends NamedObject> = Pick<
  Creation<NamedInputs, object, ApiObject>,
  "kind" | "shape" | "rules" | "complete" | "plan"
> & { inputs: Pick<NamedInputs, "name"> };

/** The object with the inputs' name and its adoption; undefined if there is none. Rejects if it cannot be adopted. */
export async function findAdoption<ApiObject extends NamedObject>(
  creation: Candidates<ApiObject>,
  objects: readonly ApiObject[],
  context: Context,
): Promise<{ object: ApiObject; adoption: Adoption } | undefined> {
  const candidates = objects.filter(({ id, name }) => name === creation.inputs.name && !context.ownedIds.has(id));
  const [first] = candidates;
  if (!first) return undefined;
  requireSingle(creation, candidates);
  const object = creation.complete ? await creation.complete(first) : first;
  const adoption = creation.plan(object);
  requireAdoptable(creation, object, adoption, context);
  return { object, adoption };
}

/** Values of an object that differ from the inputs and cannot change in place. */
function fixedDifferences({ existing, changes }: Adoption): Map<string, unknown> {
  const fixed = changes.filter(({ path, replace }) => replace && (path[0] ?? "") in existing);
  return new Map(fixed.map(({ path }) => [path[0] ?? "", existing[path[0] ?? ""]]));
}

/** Inputs that the dialect neither shows nor changes. */
const unverifiableInputs = ({ shape, rules }: Candidates<NamedObject>, { existing }: Adoption): string[] =>
  Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { replaceOnChanges } = optionsOf(schema);
    return replaceOnChanges !== undefined && replaceOnChanges === rules?.dialect && !(key in existing) ? [key] : [];
  });

const labelOf = ({ kind, inputs }: Candidates<NamedObject>): string => `${kind} "${inputs.name}"`;

function requireSingle(creation: Candidates<NamedObject>, candidates: readonly NamedObject[]): void {
  if (candidates.length > 1)
    throw new UserError(
      `${labelOf(creation)}: adoptExisting requires exactly one object with this name, but there are ${candidates.length} (${idList(candidates)}); ` +
        "rename or delete the others, or set another name",
      { help: "severalToAdopt" },
    );
}

function requireAdoptable(
  creation: Candidates<NamedObject>,
  object: NamedObject,
  adoption: Adoption,
  { secrets }: Context,
): void {
  const label = labelOf(creation);
  const unverifiable = unverifiableInputs(creation, adoption);
  if (unverifiable.length > 0)
    throw new Error(
      `${label}: adoptExisting cannot adopt ${object.id}, because REST ${creation.rules?.dialect} neither shows nor changes ` +
        `its ${unverifiable.join(" and ")}; delete it, or set another name`,
    );
  const fixed = fixedDifferences(adoption);
  if (fixed.size === 0) return;
  const format = (key: string, value: unknown): string =>
    isSecretAt([key], secrets?.paths ?? []) ? hiddenValue : JSON.stringify(value);
  const values = [...fixed].map(([key, value]) => `${key} ${format(key, value)}`).join(", ");
  throw new UserError(
    `${label}: the existing object (${object.id}) has ${values}, which cannot change in place; ` +
      `set ${[...fixed.keys()].join(", ")} to that value, or set another name`,
    { help: "fixedWhenAdopted" },
  );
}
