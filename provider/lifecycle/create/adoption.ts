import { callOptions } from "../calls";
import type { Context } from "../contract";
import { agrees, diffProperties } from "../properties/diff";
import { hiddenValue, isSecretAt } from "../properties/secret-paths";
import { traitsOf } from "../properties/traits";
import { toProperties } from "../properties/values";
import { type Creation, type Findable, hasOwnName, listed, type Named } from "./creation";
import type { ExistingObject, Ledger } from "./ledger";

/** Milliseconds that an object counts as made just now, by the service's own clock. */
const justNow = 15 * 60_000;

/**
 * Takes over an object that is there already, or returns undefined: then a new one is made. There are two reasons to:
 * the user says so (`adoptExisting`), or an earlier run of the same resource was interrupted between its request and
 * the response (docs/drift-and-faults.md has the rule). An object that the state has, or another create, is never taken.
 */
export async function takeOver<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  before: ExistingObject[],
  ledger: Ledger,
  context: Context,
): Promise<{ id: string; outputs: Outputs } | undefined> {
  const { inputs, shape, rules } = creation;
  const named = hasOwnName(creation, context);
  if (!inputs.adoptExisting && !named) return undefined;
  // A refresh reads what was replaced, too.
  const mayBeRead = creation.returns === true && named;
  const isFree = ({ id, name }: ExistingObject): boolean =>
    name === inputs.name &&
    !ledger.claimed.has(id) &&
    (mayBeRead || !ledger.inState.has(id)) &&
    !context.inState?.has(id);
  const free = new Set(before.filter(isFree).map(({ id }) => id));
  if (free.size === 0) return undefined;
  // The list of before may be old, and an object may have got another name meanwhile.
  const found = (await creation.listNamed(callOptions(context))).filter((one) => free.has(one.id) && isFree(one));
  const chosen = inputs.adoptExisting
    ? theOnlyOne(creation, found, context)
    : await leftByInterruption(creation, found, context);
  if (!chosen) {
    if (!inputs.adoptExisting) refuseOrWarn(creation, found, context);
    return undefined;
  }

  context.progress(`taking over the existing ${creation.kind} ${chosen.id}`);
  ledger.claimed.add(chosen.id);
  const whole = creation.complete ? await creation.complete(chosen) : chosen;
  const outputs = creation.outputs(whole);
  const olds = toProperties({ ...creation.actual(whole), ...outputs });
  const changed = new Set(diffProperties(shape, olds, toProperties(inputs), rules).map(({ path }) => path[0]));
  try {
    const changes = { olds, news: inputs, changed: (key: string) => changed.has(key) };
    const altered = await creation.change(chosen.id, changes);
    ledger.adopted.add(chosen.id);
    return { id: chosen.id, outputs: { ...outputs, ...altered } };
  } catch (error) {
    ledger.claimed.delete(chosen.id);
    throw error;
  }
}

/** What of an object differs from the inputs and cannot change in place: name → value that it has. */
function fixedDifferences<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { inputs, shape, rules, actual }: Creation<Inputs, Outputs, Found>,
  one: Found,
): Map<string, unknown> {
  const has = toProperties(actual(one));
  const changes = diffProperties(shape, has, toProperties(inputs), rules);
  const fixed = changes.filter(({ path, replace }) => replace && (path[0] ?? "") in has);
  return new Map(fixed.map(({ path }) => [path[0] ?? "", has[path[0] ?? ""]]));
}

/** Inputs that an object does not show and the dialect cannot change: what it has of them cannot be made what is asked for. */
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

/** The one object that `adoptExisting` means; what cannot become what is asked for is refused. */
function theOnlyOne<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  found: Found[],
  { secrets }: Context,
): Found | undefined {
  const [one, ...others] = found;
  if (!one) return undefined;
  const label = `${creation.kind} "${creation.inputs.name}"`;
  if (others.length > 0) {
    throw new Error(
      `${label}: adoptExisting takes over one object, but ${found.length} have this name (${listed(found)}). ` +
        "Rename or delete those that are not meant, or set another name.",
    );
  }
  const unreachable = sealed(creation, one);
  if (unreachable.length > 0) {
    throw new Error(
      `${label}: adoptExisting cannot take over the existing one (${one.id}), for REST ${creation.rules?.dialect} neither ` +
        `shows nor changes its ${unreachable.join(" and ")}. Delete it, or set another name.`,
    );
  }
  const fixed = fixedDifferences(creation, one);
  if (fixed.size === 0) return one;
  const shown = (key: string, value: unknown): string =>
    isSecretAt([key], secrets?.paths ?? []) ? hiddenValue : JSON.stringify(value);
  const values = [...fixed].map(([key, value]) => `${key} ${shown(key, value)}`).join(", ");
  throw new Error(
    `${label}: the existing one (${one.id}) has ${values}, which cannot change in place. ` +
      `Set ${[...fixed.keys()].join(", ")} to what it has, or set another name.`,
  );
}

/** What an interrupted create of this very resource left; undefined unless everything speaks for it. */
async function leftByInterruption<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { inputs, shape, rules, actual, leftover }: Creation<Inputs, Outputs, Found>,
  found: Found[],
  context: Context,
): Promise<Found | undefined> {
  if (!leftover) return undefined;
  const now = context.clients.serviceTime();
  const isRecent = ({ createdAt }: Found): boolean =>
    createdAt !== undefined && now !== undefined && Math.abs(now - Date.parse(createdAt)) <= justNow;
  const [one, ...others] = found.filter(
    (each) => (!leftover.onlyRecent || isRecent(each)) && agrees(shape, actual(each), inputs, rules),
  );
  if (!one || others.length > 0) return undefined;
  // Something that cannot be read may use it.
  let unclear = false;
  const onUnreadable = (): void => {
    unclear = true;
  };
  const free = await leftover.unused(one, { ...callOptions(context), onUnreadable });
  return free && !unclear ? one : undefined;
}

/**
 * Says what has the resource's own name and is not taken over, so that nothing is left without a word. It stops
 * the create where a second one is impossible or data may be at stake; else it is a warning.
 */
function refuseOrWarn<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  found: Found[],
  context: Context,
): void {
  const { kind, inputs, shape, leftover } = creation;
  const nameIsUnique = Object.entries(shape.shape).some(([key, schema]) => key === "name" && traitsOf(schema).unique);
  const inTheWay = found.filter((one) => nameIsUnique || (!leftover && fixedDifferences(creation, one).size === 0));
  if (inTheWay.length > 0) {
    const use = inTheWay.some((one) => sealed(creation, one).length > 0)
      ? ""
      : 'To use it, set adoptExisting: true or import it with "pulumi import" (plugin only). ';
    throw new Error(
      `${kind} "${inputs.name}": an object with this name exists (${listed(inTheWay)}) that is not part of this ` +
        `deployment; an interrupted deployment may have left it. ${use}To leave it alone, set another name. Else delete it. ` +
        "To force a replacement, set the resource option deleteBeforeReplace: true.",
    );
  }
  if (found.length > 0) {
    context.warn(
      `another ${kind} named "${inputs.name}" exists (${listed(found)}) that is not part of this deployment: ` +
        "an interrupted deployment may have left it. Delete it unless it is in use.",
    );
  }
}
