import { traitsOf } from "serverless-compute-api/shapes";
import { callOptions } from "../calls";
import type { Context } from "../contract";
import { diffProperties } from "../properties/diff";
import { hiddenValue, isSecretAt } from "../properties/secret-paths";
import { toProperties } from "../properties/values";
import { type Creation, type Findable, listed, type Named } from "./creation";

/**
 * Adopts the existing object that has the inputs' name and updates it to the inputs. Returns undefined if there is none.
 * Rejects if several objects have the name, or if the object cannot be updated to the inputs.
 */
export async function adopt<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  context: Context,
): Promise<{ id: string; outputs: Outputs } | undefined> {
  const { kind, inputs, shape, rules } = creation;
  const named = (await creation.listNamed(callOptions(context))).filter(
    ({ id, name }) => name === inputs.name && !context.held.has(id),
  );
  const chosen = theOnlyOne(creation, named, context);
  if (!chosen) return undefined;
  context.progress(`adopting the existing ${kind} ${chosen.id}`);
  const whole = creation.complete ? await creation.complete(chosen) : chosen;
  const outputs = creation.outputs(whole);
  const olds = toProperties({ ...creation.actual(whole), ...outputs });
  const changed = new Set(diffProperties(shape, olds, toProperties(inputs), rules).map(({ path }) => path[0]));
  const update = { olds, news: inputs, changed: (key: string) => changed.has(key) };
  const altered = await creation.change(chosen.id, update);
  context.held.set(chosen.id, "adopted");
  return { id: chosen.id, outputs: { ...outputs, ...altered } };
}

/** Values of an object that differ from the inputs and cannot change in place. */
function fixedDifferences<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { inputs, shape, rules, actual }: Creation<Inputs, Outputs, Found>,
  one: Found,
): Map<string, unknown> {
  const has = toProperties(actual(one));
  const changes = diffProperties(shape, has, toProperties(inputs), rules);
  const fixed = changes.filter(({ path, replace }) => replace && (path[0] ?? "") in has);
  return new Map(fixed.map(({ path }) => [path[0] ?? "", has[path[0] ?? ""]]));
}

/** Inputs that the dialect neither shows nor changes. */
function sealed<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { shape, rules, actual }: Creation<Inputs, Outputs, Found>,
  one: Found,
): string[] {
  const has = toProperties(actual(one));
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { replaces } = traitsOf(schema);
    return replaces !== undefined && replaces === rules?.dialect && !(key in has) ? [key] : [];
  });
}

function theOnlyOne<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  found: Found[],
  { secrets }: Context,
): Found | undefined {
  const [one, ...others] = found;
  if (!one) return undefined;
  const label = `${creation.kind} "${creation.inputs.name}"`;
  if (others.length > 0)
    throw new Error(
      `${label}: adoptExisting requires exactly one object with this name, but there are ${found.length} (${listed(found)}); ` +
        "rename or delete the others, or set another name",
    );
  const unreachable = sealed(creation, one);
  if (unreachable.length > 0)
    throw new Error(
      `${label}: adoptExisting cannot adopt ${one.id}, because REST ${creation.rules?.dialect} neither shows nor changes ` +
        `its ${unreachable.join(" and ")}; delete it, or set another name`,
    );
  const fixed = fixedDifferences(creation, one);
  if (fixed.size === 0) return one;
  const shown = (key: string, value: unknown): string =>
    isSecretAt([key], secrets?.paths ?? []) ? hiddenValue : JSON.stringify(value);
  const values = [...fixed].map(([key, value]) => `${key} ${shown(key, value)}`).join(", ");
  throw new Error(
    `${label}: the existing object (${one.id}) has ${values}, which cannot change in place; ` +
      `set ${[...fixed.keys()].join(", ")} to that value, or set another name`,
  );
}
