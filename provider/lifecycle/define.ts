import type { Dialect } from "serverless-compute-api";
import { type Traits, traitsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { type Change, type Context, type Failure, type Lifecycle, PartialFailure, type Properties } from "./contract";
import type { Update } from "./create/creation";
import { ExplainedError, explained, type Subject } from "./messages";
import { generatedNameCannotAdopt, resolveName } from "./names";
import { checkInputs } from "./properties/check";
import { defaultsOf, recordedDefaults } from "./properties/defaults";
import { uncarried } from "./properties/dialect";
import { type DiffRules, diffProperties } from "./properties/diff";
import { type Derived, previewOutputs } from "./properties/preview-outputs";
import { unlistedValues } from "./properties/unlisted";
import { textOf, toProperties } from "./properties/values";
import { readingOf } from "./reading";
import { forgetReads } from "./reads";
import { withinLimit } from "./verb-limit";

/** An object as the service shows it. A missing key is not shown; an undefined value means that the object has none. */
export interface Actual<Inputs, Outputs> {
  inputs: { [Key in keyof Inputs]?: unknown };
  outputs: Partial<Outputs>;
}

/** The shapes of a kind, the source of schema, reference and argument types. */
export interface ResourceShapes {
  description: string;
  /** Inputs of programs. */
  inputs: z.ZodObject;
  /** Outputs in addition to the inputs. */
  outputs: z.ZodObject;
}

/** A lifecycle and its shapes. */
export type ResourceLifecycle = Lifecycle & ResourceShapes;

/** A resource kind in its own types, the argument of `defineLifecycle`. */
export interface Definition<Inputs extends object, Outputs extends object> extends DiffRules, ResourceShapes {
  kind: string;
  /** Checked inputs with a name, as the verbs receive them. */
  resolved: z.ZodType<Inputs>;
  /** Records in the state which properties the program leaves at their defaults; the service may have other values for these. */
  recordsDefaults?: true;
  /** Inputs that may alter an output; an update leaves the other outputs unchanged. */
  alters: { [Key in keyof Outputs & string]: readonly (keyof Inputs & string)[] };
  /** Outputs that follow from the inputs. */
  derives?: { [Key in keyof Outputs & string]?: Derived };
  /** Rules of a dialect for checked inputs, beyond their shape; values may be unknown. */
  dialectRules?: (inputs: Properties, dialect: Dialect, olds: Properties) => Failure[];
  preflight?: Lifecycle["preflight"];
  /** Warnings for a preview of `changes`, beyond those of traits; `keepsName` if a replacement gets the name of its predecessor. */
  warnings?: (changes: readonly Change[], keepsName: boolean, dialect: Dialect | undefined) => string[];
  /** Returns true if a name of the program gets a random suffix, so that a replacement can be created first. */
  suffixesNames?: (inputs: Properties) => boolean;
  /** The changes of a deployment, from those that the properties `found`. */
  changes?: (found: Change[], olds: Properties, news: Properties, dialect: Dialect | undefined) => Change[];
  /** Further keys of an unfinished object's state, which a read keeps. */
  keeps?: readonly string[];
  create(inputs: Inputs, context: Context): Promise<{ id: string; outputs: Outputs }>;
  read(id: string, olds: Properties, context: Context): Promise<Actual<Inputs, Outputs> | undefined>;
  update(id: string, update: Update<Inputs>, context: Context): Promise<Outputs>;
  delete(id: string, olds: Properties, context: Context): Promise<void>;
}

/** Returns true if the changes replace the object. */
export const isReplacement = (changes: readonly Change[]): boolean => changes.some(({ replace }) => replace);

/** Converts a kind in its own types to a lifecycle: parses inputs, merges outputs, explains failures. */
export function defineLifecycle<Inputs extends object, Outputs extends object>(
  definition: Definition<Inputs, Outputs>,
): ResourceLifecycle {
  const { kind, description, inputs: shape, outputs, resolved } = definition;
  const diff = (olds: Properties, news: Properties, dialect?: Dialect): Change[] => {
    const found = diffProperties(shape, olds, news, { ...definition, dialect });
    return definition.changes?.(found, olds, news, dialect) ?? found;
  };
  const merged = (inputs: object, outputs: object): Properties => toProperties({ ...inputs, ...outputs });
  const labelOf = (properties: Properties, id?: string): string => {
    const name = textOf(properties, "name");
    const endpoint = textOf(properties, "endpointId");
    if (name === undefined && endpoint !== undefined) return `${kind} on endpoint "${endpoint}"`;
    return name === undefined && id === undefined ? kind : `${kind} "${name ?? id}"`;
  };

  return {
    kind,
    description,
    inputs: shape,
    outputs,
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
    preflight: definition.preflight,
    unlisted: (olds, news, secrets) => unlistedValues(shape, olds, news, secrets),
    diff,
    warnings: (changes, keepsName, dialect) => [
      ...warningsOf(shape, changes),
      ...(definition.warnings?.(changes, keepsName, dialect) ?? []),
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
          // In a forced replacement the provider has no facts about the old object, so its create may have adopted that object.
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

/** Keys of the state with the ids of duplicates: `doubles` in states of version 0.1.0. */
const duplicateKeys = ["duplicates", "doubles"] as const;

/** Deletes duplicates that a create could not delete. */
async function deleteDuplicates(
  definition: { delete(id: string, olds: Properties, context: Context): Promise<void> },
  olds: Properties,
  context: Context,
): Promise<void> {
  const ids = duplicateKeys.flatMap((key) => olds[key] ?? []);
  for (const id of ids) if (typeof id === "string") await definition.delete(id, {}, context);
}

/** Runs a verb that changes objects of the service; earlier reads are invalidated. */
async function writing<Answer>(context: Context, work: () => Promise<Answer>): Promise<Answer> {
  forgetReads(context.clients);
  try {
    return await work();
  } finally {
    forgetReads(context.clients);
  }
}

/** Runs a verb; a failed call throws with the message for the user. An unfinished object keeps its inputs. */
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

/** Runs a verb within its timeout. */
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

function warningsOf(shape: z.ZodObject, changes: Change[]): string[] {
  const byText = new Map<string, Set<string>>();
  for (const { path } of changes) {
    const key = path[0] ?? "";
    const schema = shape.shape[key];
    const text = schema && traitsOf(schema).warns;
    if (text) byText.set(text, (byText.get(text) ?? new Set()).add(key));
  }
  return [...byText].map(([text, keys]) => `${[...keys].join(", ")}: ${text}`);
}
