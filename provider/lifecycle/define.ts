import type { Dialect } from "serverless-compute-api";
import type { z } from "zod";
import {
  type Change,
  type Context,
  type Failure,
  type Lifecycle,
  type NameSource,
  type Naming,
  PartialFailure,
  type Properties,
} from "./contract";
import type { Update } from "./create/creation";
import { ExplainedError, explained, type Subject } from "./messages";
import { isSuffixed, suffixed } from "./names";
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
  /** What a replacement loses or requires; `keepsName` if it gets the name of the object that it replaces. */
  replaceWarning?: (keepsName: boolean, dialect: Dialect | undefined) => string | undefined;
  /** Whether a name that the program sets gets a random suffix, so that a replacement never needs the old one's name. */
  suffixesNames?: (inputs: Properties) => boolean;
  /** Marks the changes that these inputs make a replacement of. */
  replacing?: (changes: Change[], news: Properties, dialect: Dialect | undefined) => Change[];
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
    check: (olds, news, naming, secrets, dialect) => {
      const { inputs, failures } = checkInputs(shape, olds, news, naming.defaultName?.name, secrets);
      const nameSource = resolveName(inputs, olds, news, naming, definition.suffixesNames?.(inputs) === true);
      if (inputs["adoptExisting"] === true && nameSource === "random" && olds["name"] === undefined)
        failures.push({ path: "adoptExisting", reason: generatedNameCannotAdopt });
      if (definition.recordsDefaults) Object.assign(inputs, recordedDefaults(shape, news));
      if (dialect === undefined) return { inputs, failures, nameSource };
      const ruled = definition.dialectRules?.(inputs, dialect, olds) ?? [];
      return { inputs, failures: [...failures, ...uncarried(shape, inputs, dialect), ...ruled], nameSource };
    },
    diff,
    warnings: (changes, keepsName, dialect) => [
      ...warningsOf(shape, changes, () => definition.replaceWarning?.(keepsName, dialect)),
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
        context.held.set(id, "state");
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
            context.held.set(id, "state");
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
          // A forced replacement tells the provider nothing about the old object, so its create may have adopted that object.
          if (context.held.get(id) === "adopted")
            return context.warn(
              `${labelOf(olds, id)} was not replaced, because its replacement adopted it; ` +
                "to replace it, set the resource option deleteBeforeReplace: true",
            );
          await deleteDuplicates(definition, olds, context);
          await definition.delete(id, olds, context);
        }),
      ),
  };
}

const generatedNameCannotAdopt =
  "is true; requires a name that the program sets in full, because no existing object has a generated name";

/** Determines where the name comes from. Appends a random suffix to a name of the program that gets one, in `inputs`. */
function resolveName(
  inputs: Properties,
  olds: Properties,
  news: Properties,
  { defaultName, seed }: Naming,
  suffixes: boolean,
): NameSource {
  const given = news["name"] ?? undefined;
  if (inputs["name"] === undefined) return "program";
  if (given === undefined) return defaultName?.isUnique ? "random" : "autonaming";
  if (!suffixes || typeof given !== "string") return "program";
  const had = textOf(olds, "name");
  inputs["name"] = had !== undefined && isSuffixed(had, given) ? had : suffixed(given, seed);
  return "random";
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

function warningsOf(shape: z.ZodObject, changes: Change[], replaceWarning: () => string | undefined): string[] {
  const byText = new Map<string, Set<string>>();
  for (const { path } of changes) {
    const key = path[0] ?? "";
    const schema = shape.shape[key];
    const text = schema && traitsOf(schema).warns;
    if (text) byText.set(text, (byText.get(text) ?? new Set()).add(key));
  }
  const warnings = [...byText].map(([text, keys]) => `${[...keys].join(", ")}: ${text}`);
  if (!changes.some(({ replace }) => replace)) return warnings;
  const lost = replaceWarning();
  return lost === undefined ? warnings : [...warnings, lost];
}
