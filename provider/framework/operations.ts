import type { Dialect } from "serverless-compute-api";
import { optionsOf, type PropertyOptions } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { type Properties, stringAt, textsIn, toProperties } from "../engine/values";
import type { Change, Context, PlannedChange, ResourceOperations } from "./contract";
import {
  changedProperties,
  isReplacement,
  type Plan,
  type ResourceDefinition,
  type ResourceSchemas,
} from "./definition";
import { helpOf, ResourceInitError, UserError } from "./errors";
import { invalidateLists } from "./lists";
import { type ErrorContext, toUserError } from "./messages";
import { generatedNameCannotAdopt, keepsUniqueName } from "./names";
import { pick, readResultOf } from "./observation";
import { checkInputs, unsupportedInputs, withDefaults } from "./properties/check";
import { compatibleValues } from "./properties/compatible";
import {
  defaultsOf,
  isDetermined,
  keptValues,
  nameSourceOf,
  serviceDetermined,
  withOmitted,
  withoutOmitted,
} from "./properties/defaults";
import { diffProperties } from "./properties/diff";
import { inputWarnings } from "./properties/input-warnings";
import { previewOutputs, withDerivedOutputs } from "./properties/preview-outputs";
import { containsSecret } from "./properties/secret-paths";
import { withTimeout } from "./timeout";
import { duplicatesKey, unfinishedIn } from "./unfinished";

/** The operations of a kind and its schemas. */
export type Resource = ResourceOperations & ResourceSchemas;

/** Defines the operations of a kind: parses inputs, merges outputs, explains failures. */
export function defineResource<Inputs extends object, Outputs extends object>(
  definition: ResourceDefinition<Inputs, Outputs>,
): Resource {
  const { kind, description, inputs: shape, outputs, checkedInputs } = definition;
  const options = optionsOfShapes(shape, outputs);
  const plan = (change: PlannedChange): Plan =>
    definition.plan?.({ ...change, keepsName: keepsUniqueName(options, change) }) ?? {};
  const diff = (olds: Properties, news: Properties, dialect?: Dialect): Change[] => {
    const changes = diffProperties(shape, olds, news, dialect);
    const planned = plan({ changes, olds, news, dialect }).changes ?? changes;
    const unfinished = unfinishedIn(olds).filter((key) => !planned.some(({ path }) => path[0] === key));
    return [...planned, ...unfinished.map((key): Change => ({ path: [key], kind: "update", replace: false }))];
  };
  const labelOf = (properties: Properties, id?: string): string => {
    const name = stringAt(properties, "name") ?? id;
    return definition.label?.(properties) ?? (name === undefined ? kind : `${kind} "${name}"`);
  };

  const stateOf = (id: string, properties: Properties): Properties => withDerivedOutputs(outputs, id, properties);
  /** The state of an object with the list of the properties that the program omits and does not determine by others. */
  const recorded = (program: Properties, object: object): Properties => {
    const properties = { ...defaultsOf(program), ...toProperties(object) };
    const omitted = Object.entries(properties).filter(
      ([key]) => key in shape.shape && !(key in program) && !isDetermined(shape, key, program),
    );
    return withOmitted(properties, Object.fromEntries(omitted));
  };
  /** Runs an operation within its timeout. The state after a failure records the properties that the program omits. */
  const runBounded = <Result>(
    target: Omit<ErrorContext, "names">,
    inputs: Properties,
    context: Context,
    work: (context: Context) => Promise<Result>,
  ): Promise<Result> => {
    const subject = { ...target, names: context.settings.names };
    const stateAfter = ({ id, inputs: restored = inputs, outputs }: ResourceInitError): Properties => {
      // An adoption restores the inputs of the adopted object, which no program set.
      const program = target.operation === "create" ? inputs : restored;
      return stateOf(id, recorded(program, { ...restored, ...outputs }));
    };
    return withTimeout(subject, context, (bounded) => explainFailures(subject, stateAfter, () => work(bounded)));
  };

  return {
    kind,
    description,
    inputs: shape,
    outputs,
    options,
    check: (olds, news, naming, secrets = [], dialect) => {
      const { inputs, failures } = checkInputs(shape, olds, news, naming, secrets);
      if (inputs["adoptExisting"] === true && nameSourceOf(inputs) === "random" && olds["name"] === undefined)
        failures.push({ path: "adoptExisting", reason: generatedNameCannotAdopt });
      // The service may have other values for the properties that the program omits.
      const result = { inputs: withOmitted(inputs, keptValues(shape, olds, inputs)), failures };
      if (dialect === undefined) return result;
      // A value that is invalid in every dialect has one message.
      const dialectFailures = [
        ...unsupportedInputs(shape, inputs, dialect),
        ...(definition.validate?.(inputs, dialect, olds) ?? []),
      ].flatMap(({ path, shown, reason }) =>
        failures.some((failure) => failure.path === path)
          ? []
          : [{ path, reason: shown && !containsSecret([path], secrets) ? `${shown}; ${reason}` : reason }],
      );
      return { ...result, failures: [...failures, ...dialectFailures] };
    },
    inputWarnings: (olds, news, secrets) => inputWarnings(shape, olds, news, secrets),
    diff,
    warnings: (change) => [...warningsOf(shape, change.changes), ...(plan(change).warnings ?? [])],
    previewOutputs: (olds, news, context) =>
      previewOutputs(definition, olds, news, olds ? diff(olds, news, context.dialect) : [], context),
    create: (properties, context) =>
      runBounded({ label: labelOf(properties), operation: "create" }, properties, context, (bounded) =>
        runChange(bounded, async () => {
          const inputs = checkedInputs.parse(properties);
          const { id, outputs } = await definition.create(inputs, bounded, properties);
          return { id, outputs: stateOf(id, recorded(properties, { ...inputs, ...outputs })) };
        }),
      ),
    read: (id, olds, context) =>
      runBounded({ label: labelOf(olds, id), operation: "read" }, olds, context, async (bounded) => {
        const actual = await definition.read(id, olds, bounded);
        if (!actual) return undefined;
        return readResultOf(id, olds, actual, definition, context.clients.dialect);
      }),
    update: (id, olds, news, context) => {
      const kept = keptValues(shape, olds, news);
      const program = withOmitted(news, kept);
      return runBounded({ label: labelOf(news, id), operation: "update" }, program, context, (bounded) =>
        runChange(bounded, async () => {
          const desired = withDefaults(shape, withoutOmitted(news));
          const inputs = checkedInputs.parse(desired);
          const { dialect } = context.clients;
          const changes = new Set(diff(olds, news, dialect).map(({ path: [key = ""] }) => key));
          const changed = (key: string): boolean => changes.has(key);
          const { complete, contradicting } = completeSettings(definition, desired, kept, olds, changes, dialect);
          const settings = checkedInputs.parse(complete);
          const isSent = [...changes].some((key) => options[key] && !options[key].notSent);
          const reset = isSent ? contradicting : [];
          await deleteDuplicates(definition, olds, bounded);
          const update = { olds, news: inputs, settings, reset, properties: program, changed };
          const outputs = await definition.update(id, update, bounded);
          return stateOf(id, recorded(program, { ...inputs, ...without(kept, reset), ...outputs }));
        }),
      );
    },
    delete: (id, olds, context) =>
      runBounded({ label: labelOf(olds, id), operation: "delete" }, olds, context, async (bounded) => {
        try {
          await deleteDuplicates(definition, olds, bounded);
          if (id !== undefined) await definition.delete(id, bounded);
        } catch (error) {
          invalidateLists(bounded);
          throw error;
        }
      }),
  };
}

const without = (properties: Properties, keys: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));

/**
 * The settings that a program desires, with the kept values of others that can be combined with them, and the names of the values that the
 * program contradicts. A value that contradicted the earlier program too stays as it is.
 */
function completeSettings<Inputs extends object, Outputs extends object>(
  { inputs: shape, validate }: ResourceDefinition<Inputs, Outputs>,
  desired: Properties,
  kept: Properties,
  olds: Properties,
  changes: ReadonlySet<string>,
  dialect: Dialect,
): { complete: Properties; contradicting: string[] } {
  const isValidWith =
    (program: Properties) =>
    (values: Properties): boolean => {
      const candidate = { ...program, ...values };
      return (validate?.(candidate, dialect, olds) ?? []).length === 0 && shape.safeParse(candidate).success;
    };
  // The service determines these values again.
  const values = without(kept, serviceDetermined(shape, desired, changes));
  const { selected, contradicting } = compatibleValues(values, isValidWith(desired));
  const wasValid = isValidWith(withDefaults(shape, pick(withoutOmitted(olds), Object.keys(shape.shape))));
  return {
    complete: { ...desired, ...selected },
    contradicting: contradicting.filter((key) => wasValid(pick(values, [key]))),
  };
}

/** Deletes duplicates that a create could not delete, except those that a resource compared before has. */
async function deleteDuplicates(
  definition: { delete(id: string, context: Context): Promise<void> },
  olds: Properties,
  context: Context,
): Promise<void> {
  for (const id of textsIn(olds[duplicatesKey])) if (!context.owners.has(id)) await definition.delete(id, context);
}

/** Runs an operation that changes objects of the service; earlier reads are invalidated. */
async function runChange<Result>(context: Context, work: () => Promise<Result>): Promise<Result> {
  invalidateLists(context);
  try {
    return await work();
  } finally {
    invalidateLists(context);
  }
}

/** Runs an operation; a failed call throws with the message for the user. An unfinished object keeps its inputs. */
async function explainFailures<Result>(
  subject: ErrorContext,
  stateAfter: (failure: ResourceInitError) => Properties,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ResourceInitError)) throw toUserError(error, subject);
    const cause = toUserError(error.cause, subject);
    const message = cause instanceof UserError ? `${error.message}\n${cause.message}` : error.message;
    throw new ResourceInitError(message, error.id, stateAfter(error), {
      cause,
      help: error.help ?? helpOf(cause),
    });
  }
}

const optionsOfShapes = (...shapes: z.ZodObject[]): Record<string, PropertyOptions> =>
  Object.fromEntries(
    shapes.flatMap(({ shape }) => Object.entries(shape).map(([key, schema]) => [key, optionsOf(schema)])),
  );

/** The warnings of changes in place. */
function warningsOf(shape: z.ZodObject, changes: Change[]): string[] {
  if (isReplacement(changes)) return [];
  const keysByText = new Map<string, string[]>();
  for (const key of changedProperties(changes)) {
    const schema = shape.shape[key];
    const { warns: text } = schema ? optionsOf(schema) : {};
    if (text) keysByText.set(text, [...(keysByText.get(text) ?? []), key]);
  }
  return [...keysByText].map(([text, keys]) => `${keys.join(", ")}: ${text}`);
}
