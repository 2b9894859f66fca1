import { callOptions } from "./calls";
import type { Creation, Findable, Named } from "./creation";
import { agrees, diffProperties } from "./diff";
import type { Held, Ledger } from "./ledger";
import type { Context } from "./lifecycle";
import { toProperties } from "./values";

/** Milliseconds that what an interrupted create left counts as made just now, by the service's own clock. */
const justNow = 15 * 60_000;

/**
 * Takes over an object that is there already, or answers undefined: then a new one is made. There are two reasons to:
 * the user says so (`adoptExisting`), or an earlier run of the same resource was interrupted between its request and
 * the answer (docs/drift-and-faults.md has the rule). An object that the state has, or another create, is never taken.
 */
export async function takeOver<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  before: Held[],
  ledger: Ledger,
  context: Context,
): Promise<{ id: string; outputs: Outputs } | undefined> {
  const { inputs, shape, rules } = creation;
  const interrupted = inputs.name === context.defaultName;
  if (!inputs.adoptExisting && !interrupted) return undefined;
  const isFree = ({ id, name }: Held): boolean =>
    name === inputs.name && !ledger.claimed.has(id) && !ledger.inState.has(id) && !context.inState?.has(id);
  const free = new Set(before.filter(isFree).map(({ id }) => id));
  if (free.size === 0) return undefined;
  // The list of before may be old, and an object may have got another name meanwhile.
  const found = (await creation.list(callOptions(context))).filter((one) => free.has(one.id) && isFree(one));
  const chosen = inputs.adoptExisting
    ? theOnlyOne(creation, found)
    : await leftByInterruption(creation, found, context);
  if (!chosen) return undefined;

  context.progress(`taking over the ${creation.kind} ${chosen.id} that is there already`);
  ledger.claimed.add(chosen.id);
  const outputs = creation.outputs(chosen);
  const olds = toProperties({ ...creation.told(chosen), ...outputs });
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

/** The one object that `adoptExisting` means; what cannot become what is asked for is refused. */
function theOnlyOne<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { kind, inputs, shape, rules, told }: Creation<Inputs, Outputs, Found>,
  found: Found[],
): Found | undefined {
  const [one, ...others] = found;
  if (!one) return undefined;
  const label = `${kind} "${inputs.name}"`;
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(", ");
    throw new Error(
      `${label}: adoptExisting takes over one object, but ${found.length} have this name (${ids}). ` +
        "Rename or delete those that are not meant, or set another name.",
    );
  }
  const tells = toProperties(told(one));
  const fixed = diffProperties(shape, tells, toProperties(inputs), rules).filter(
    ({ path, replace }) => replace && (path[0] ?? "") in tells,
  );
  if (fixed.length === 0) return one;
  const names = [...new Set(fixed.map(({ path }) => path[0] ?? ""))];
  const values = names.map((key) => `${key} ${JSON.stringify(tells[key])}`).join(", ");
  throw new Error(
    `${label}: the existing one (${one.id}) has ${values}, which cannot change in place. ` +
      `Set ${names.join(", ")} to what it has, or set another name.`,
  );
}

/** What an interrupted create of this very resource left; undefined unless everything speaks for it. */
async function leftByInterruption<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { inputs, shape, rules, told, unused }: Creation<Inputs, Outputs, Found>,
  found: Found[],
  context: Context,
): Promise<Found | undefined> {
  const now = context.clients.serviceTime();
  const madeJustNow = ({ createdAt }: Found): boolean =>
    createdAt === undefined || (now !== undefined && Math.abs(now - Date.parse(createdAt)) <= justNow);
  const [one, ...others] = found.filter((each) => madeJustNow(each) && agrees(shape, told(each), inputs, rules));
  if (!one || others.length > 0) return undefined;
  // Something that cannot be read may use it.
  let unclear = false;
  const onUnreadable = (): void => {
    unclear = true;
  };
  const free = await unused(one, { ...callOptions(context), onUnreadable });
  return free && !unclear ? one : undefined;
}
