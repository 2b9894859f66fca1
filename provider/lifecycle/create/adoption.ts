import { traitsOf } from "serverless-compute-api/shapes";
import { callOptions } from "../calls";
import type { Context } from "../contract";
import { diffProperties } from "../properties/diff";
import { hiddenValue, isSecretAt } from "../properties/secret-paths";
import { toProperties } from "../properties/values";
import { type Created, type Creation, idList, type NamedInputs, type NamedObject } from "./creation";

/**
 * Adopts the existing object that has the inputs' name and updates it to the inputs. Returns undefined if there is none.
 * Rejects if several objects have the name, or if the object cannot be updated to the inputs.
 */
export async function adopt<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  creation: Creation<Inputs, Outputs, ApiObject>,
  context: Context,
): Promise<Created<Outputs> | undefined> {
  const { kind, inputs, shape, rules } = creation;
  const candidates = (await creation.listNamed(callOptions(context))).filter(
    ({ id, name }) => name === inputs.name && !context.claimedIds.has(id),
  );
  const object = requireSingle(creation, candidates, context);
  if (!object) return undefined;
  context.progress(`adopting the existing ${kind} ${object.id}`);
  const complete = creation.complete ? await creation.complete(object) : object;
  const outputs = creation.outputsOf(complete);
  const olds = toProperties({ ...creation.inputsOf(complete), ...outputs });
  const changed = new Set(diffProperties(shape, olds, toProperties(inputs), rules).map(({ path }) => path[0]));
  const update = { olds, news: inputs, changed: (key: string) => changed.has(key) };
  const changedOutputs = await creation.updateAdopted(object.id, update);
  context.claimedIds.set(object.id, "adopted");
  return { id: object.id, outputs: { ...outputs, ...changedOutputs } };
}

/** Values of an object that differ from the inputs and cannot change in place. */
function fixedDifferences<ApiObject extends NamedObject>(
  { inputs, shape, rules, inputsOf }: Creation<NamedInputs, object, ApiObject>,
  object: ApiObject,
): Map<string, unknown> {
  const existing = toProperties(inputsOf(object));
  const changes = diffProperties(shape, existing, toProperties(inputs), rules);
  const fixed = changes.filter(({ path, replace }) => replace && (path[0] ?? "") in existing);
  return new Map(fixed.map(({ path }) => [path[0] ?? "", existing[path[0] ?? ""]]));
}

/** Inputs that the dialect neither shows nor changes. */
function unverifiableInputs<ApiObject extends NamedObject>(
  { shape, rules, inputsOf }: Creation<NamedInputs, object, ApiObject>,
  object: ApiObject,
): string[] {
  const existing = toProperties(inputsOf(object));
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { replaces } = traitsOf(schema);
    return replaces !== undefined && replaces === rules?.dialect && !(key in existing) ? [key] : [];
  });
}

function requireSingle<ApiObject extends NamedObject>(
  creation: Creation<NamedInputs, object, ApiObject>,
  candidates: ApiObject[],
  { secrets }: Context,
): ApiObject | undefined {
  const [object, ...duplicates] = candidates;
  if (!object) return undefined;
  const label = `${creation.kind} "${creation.inputs.name}"`;
  if (duplicates.length > 0)
    throw new Error(
      `${label}: adoptExisting requires exactly one object with this name, but there are ${candidates.length} (${idList(candidates)}); ` +
        "rename or delete the others, or set another name",
    );
  const unverifiable = unverifiableInputs(creation, object);
  if (unverifiable.length > 0)
    throw new Error(
      `${label}: adoptExisting cannot adopt ${object.id}, because REST ${creation.rules?.dialect} neither shows nor changes ` +
        `its ${unverifiable.join(" and ")}; delete it, or set another name`,
    );
  const fixed = fixedDifferences(creation, object);
  if (fixed.size === 0) return object;
  const format = (key: string, value: unknown): string =>
    isSecretAt([key], secrets?.paths ?? []) ? hiddenValue : JSON.stringify(value);
  const values = [...fixed].map(([key, value]) => `${key} ${format(key, value)}`).join(", ");
  throw new Error(
    `${label}: the existing object (${object.id}) has ${values}, which cannot change in place; ` +
      `set ${[...fixed.keys()].join(", ")} to that value, or set another name`,
  );
}
