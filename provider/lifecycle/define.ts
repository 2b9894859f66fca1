import type { Dialect } from "serverless-compute-api";
import type { z } from "zod";
import {
  type Change,
  type Context,
  type Failure,
  type Lifecycle,
  PartialFailure,
  type Properties,
  type Value,
} from "./contract";
import type { Update } from "./create/creation";
import { ledgerOf } from "./create/ledger";
import { ExplainedError, explained, type Subject } from "./messages";
import { checkInputs } from "./properties/check";
import { defaultsOf, recordedDefaults } from "./properties/defaults";
import { uncarried } from "./properties/dialect";
import { type DiffRules, diffProperties } from "./properties/diff";
import { type Derived, previewOutputs } from "./properties/preview-outputs";
import { type Traits, traitsOf } from "./properties/traits";
import { textOf, toProperties } from "./properties/values";
import { readingOf } from "./reading";
import { forgetReads } from "./reads";
import { withinLimit } from "./verb-limit";

/** What an object really is, as the service shows it: a key left out is not shown, an undefined value means there is none. */
export interface Actual<Inputs, Outputs> {
  inputs: { [Key in keyof Inputs]?: unknown };
  outputs: Partial<Outputs>;
}

/** What a kind of resource is to people: schema, reference and argument types are made from it. */
export interface ResourceShapes {
  description: string;
  /** Inputs as people write them. */
  inputs: z.ZodObject;
  /** What it knows beside them once it exists. */
  outputs: z.ZodObject;
}

/** A lifecycle together with the shapes that it goes by. */
export type ResourceLifecycle = Lifecycle & ResourceShapes;

/** A resource kind in its own types; `defineLifecycle` makes what both ways use of it. */
export interface Definition<Inputs extends object, Outputs extends object> extends DiffRules, ResourceShapes {
  kind: string;
  /** Inputs as the verbs get them: checked, the name filled in. */
  resolved: z.ZodType<Inputs>;
  /** Records in state which defaults the program leaves in force: the service may have other values for these. */
  recordsDefaults?: true;
  /** Output → the inputs whose change may alter it; the others stay as they are in an update. */
  alters: { [Key in keyof Outputs & string]: readonly (keyof Inputs & string)[] };
  /** Outputs that are known before the service computes them. */
  derives?: { [Key in keyof Outputs & string]?: Derived };
  /** What a dialect asks of the checked inputs beyond their shape; values may be unknown. */
  dialectRules?: (inputs: Properties, dialect: Dialect, olds: Properties) => Failure[];
  /** What a replacement loses or needs, where no property's own traits say so; `changed` are the properties that do. */
  replaceWarning?: (changed: ReadonlySet<string>, dialect: Dialect | undefined) => string | undefined;
  /** The name that the checked inputs get instead of theirs; `given` is what the program says. */
  rename?: (
    inputs: Properties,
    olds: Properties,
    given: Value | undefined,
    defaultName: string | undefined,
  ) => Value | undefined;
  /** Marks the changes that these inputs make a replacement of. */
  replacing?: (changes: Change[], news: Properties, dialect: Dialect | undefined) => Change[];
  /** Whether an object that was replaced may be taken back into use, by a create that finds it. */
  returns?: (olds: Properties) => boolean;
  /** What else deserves a warning beside a preview of `changes`. */
  alsoWarns?: (changes: readonly Change[]) => string[];
  /** Keys that the state has beside inputs and outputs while something is unfinished: a read keeps them. */
  keeps?: readonly string[];
  /** What a deployment has to do although no input differs. */
  unfinished?: (olds: Properties, news: Properties) => Change[];
  create(inputs: Inputs, context: Context): Promise<{ id: string; outputs: Outputs }>;
  read(id: string, olds: Properties, context: Context): Promise<Actual<Inputs, Outputs> | undefined>;
  update(id: string, update: Update<Inputs>, context: Context): Promise<Outputs>;
  delete(id: string, olds: Properties, context: Context): Promise<void>;
}

/** Turns a kind written in its own types into what both ways see: parses at the edge, merges, explains failures. */
export function defineLifecycle<Inputs extends object, Outputs extends object>(
  definition: Definition<Inputs, Outputs>,
): ResourceLifecycle {
  const { kind, description, inputs: shape, outputs, resolved } = definition;
  const diff = (olds: Properties, news: Properties, dialect?: Dialect): Change[] => {
    const found = diffProperties(shape, olds, news, { ...definition, dialect });
    const changes = definition.replacing?.(found, news, dialect) ?? found;
    return changes.length > 0 ? changes : (definition.unfinished?.(olds, news) ?? []);
  };
  const merged = (inputs: object, outputs: object): Properties => toProperties({ ...inputs, ...outputs });
  const labelOf = (properties: Properties, id?: string): string => {
    const name = textOf(properties, "name");
    const endpoint = textOf(properties, "endpointId");
    if (name === undefined && endpoint !== undefined) return `${kind} on endpoint "${endpoint}"`;
    return name === undefined && id === undefined ? kind : `${kind} "${name ?? id}"`;
  };

  return {
    ...{ kind, description, inputs: shape, outputs },
    traits: traitsOfShapes(shape, outputs),
    check: (olds, news, defaultName, secrets, dialect) => {
      const { inputs, failures } = checkInputs(shape, olds, news, defaultName, secrets);
      const name = definition.rename?.(inputs, olds, news["name"], defaultName);
      if (name !== undefined) inputs["name"] = name;
      if (definition.recordsDefaults) Object.assign(inputs, recordedDefaults(shape, news));
      if (dialect === undefined) return { inputs, failures };
      const ruled = definition.dialectRules?.(inputs, dialect, olds) ?? [];
      return { inputs, failures: [...failures, ...uncarried(shape, inputs, dialect), ...ruled] };
    },
    diff,
    warnings: (changes, dialect) => [
      ...warningsOf(shape, changes, (changed) => definition.replaceWarning?.(changed, dialect)),
      ...(definition.alsoWarns?.(changes) ?? []),
    ],
    previewOutputs: (olds, news, place) => previewOutputs(definition, olds, news, place),
    create: (properties, whole) =>
      attempt({ label: labelOf(properties), verb: "create" }, properties, whole, (context) =>
        writing(context, async () => {
          const inputs = resolved.parse(properties);
          const made = await definition.create(inputs, context);
          return { id: made.id, outputs: merged({ ...defaultsOf(properties), ...inputs }, made.outputs) };
        }),
      ),
    read: (id, olds, whole) =>
      attempt({ label: labelOf(olds, id), verb: "read" }, olds, whole, async (context) => {
        ledgerOf(context.clients).inState.add(id);
        const actual = await definition.read(id, olds, context);
        if (!actual) return undefined;
        return readingOf(id, olds, actual, definition, [...duplicateKeys, ...(definition.keeps ?? [])]);
      }),
    update: (id, olds, news, whole) =>
      attempt(
        { label: labelOf(news, id), verb: "update" },
        news,
        whole,
        (context) =>
          writing(context, async () => {
            ledgerOf(context.clients).inState.add(id);
            const inputs = resolved.parse(news);
            const changed = new Set(diff(olds, news).map(({ path }) => path[0]));
            await deleteDuplicates(definition, olds, context);
            const update = { olds, news: inputs, changed: (key: string) => changed.has(key) };
            return merged({ ...defaultsOf(news), ...inputs }, await definition.update(id, update, context));
          }),
        olds,
      ),
    delete: (id, olds, whole) =>
      attempt({ label: labelOf(olds, id), verb: "delete" }, olds, whole, (context) =>
        writing(context, async () => {
          const { adopted, inState } = ledgerOf(context.clients);
          // A forced replacement whose create took over the very object that is to be deleted now: it stays.
          if (adopted.has(id) || (context.staying?.has(id) && definition.returns?.(olds))) {
            if (definition.returns?.(olds)) return;
            context.warn(
              `${labelOf(olds, id)} was kept, not replaced: the new one took it over. ` +
                "To force a replacement, set the resource option deleteBeforeReplace: true.",
            );
            return;
          }
          inState.add(id);
          await deleteDuplicates(definition, olds, context);
          await definition.delete(id, olds, context);
        }),
      ),
  };
}

/** Where the state has the ids of duplicates: `doubles` in what version 0.1.0 wrote. */
const duplicateKeys = ["duplicates", "doubles"] as const;

/** Deletes what a create made twice and could not take back. */
async function deleteDuplicates(
  definition: { delete(id: string, olds: Properties, context: Context): Promise<void> },
  olds: Properties,
  context: Context,
): Promise<void> {
  const ids = duplicateKeys.flatMap((key) => olds[key] ?? []);
  for (const id of ids) if (typeof id === "string") await definition.delete(id, {}, context);
}

/** Runs a verb that changes what the service holds: what was read before it is read again after it. */
async function writing<Answer>(context: Context, work: () => Promise<Answer>): Promise<Answer> {
  forgetReads(context.clients);
  try {
    return await work();
  } finally {
    forgetReads(context.clients);
  }
}

/** Runs a verb; a failed call leaves with the text a person needs. What is unfinished keeps its inputs. */
async function explaining<Answer>(
  subject: Subject,
  inputs: Properties,
  olds: Properties,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PartialFailure)) throw explained(error, subject);
    const outputs = { ...(error.inputs ? { ...defaultsOf(olds), ...error.inputs } : inputs), ...error.outputs };
    const cause = explained(error.cause, subject);
    const message = cause instanceof ExplainedError ? `${error.message}\n${cause.message}` : error.message;
    throw new PartialFailure(message, error.id, outputs, { cause });
  }
}

/** Runs a verb within its time-out. */
const attempt = <Answer>(
  subject: Subject,
  inputs: Properties,
  context: Context,
  work: (context: Context) => Promise<Answer>,
  olds: Properties = inputs,
): Promise<Answer> =>
  withinLimit(subject, context, (bounded) => explaining(subject, inputs, olds, () => work(bounded)));

function traitsOfShapes(...shapes: z.ZodObject[]): Record<string, Traits> {
  const traits: Record<string, Traits> = {};
  for (const { shape } of shapes) {
    for (const [key, schema] of Object.entries(shape)) traits[key] = traitsOf(schema);
  }
  return traits;
}

function warningsOf(
  shape: z.ZodObject,
  changes: Change[],
  replaceWarning: (changed: ReadonlySet<string>) => string | undefined,
): string[] {
  const byText = new Map<string, Set<string>>();
  for (const { path } of changes) {
    const key = path[0] ?? "";
    const schema = shape.shape[key];
    const text = schema && traitsOf(schema).warns;
    if (text) byText.set(text, (byText.get(text) ?? new Set()).add(key));
  }
  const warnings = [...byText].map(([text, keys]) => `${[...keys].join(", ")}: ${text}`);
  if (!changes.some(({ replace }) => replace)) return warnings;
  const lost = replaceWarning(new Set(changes.map(({ path }) => path[0] ?? "")));
  return lost === undefined ? warnings : [...warnings, lost];
}
