import { optionsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { CallContext } from "../framework/calls";
import type { ResourceSchemas } from "../framework/definition";
import type { ObjectReader } from "../framework/lists";
import { explainLookup } from "../framework/messages";
import { hasName } from "../framework/names";

/** Function of the package; all arguments are strings. */
export interface FunctionDefinition<
  Args = Readonly<Record<string, string | undefined>>,
  Result extends object = object,
> {
  description: string;
  /** Descriptions of the arguments, by name. */
  args: Readonly<Record<string, string>>;
  /** Names of the required arguments. */
  required: readonly string[];
  /** Outputs; created on demand, because most processes call no function. */
  outputs(): z.ZodObject;
  /** Calls the service. Fields of the result that are not in `outputs` are for TypeScript programs only. */
  run(args: Args, context: CallContext): Promise<Result>;
}

/** Identifies an existing object by its id, or by a name that is unique for its kind. */
export type LookUp = { id: string; name?: undefined } | { name: string; id?: undefined };

/** A resource kind whose objects are looked up. */
interface LookupSource<ApiObject extends { id: string }> extends ResourceSchemas {
  kind: string;
  reader(context: Pick<CallContext, "clients">): ObjectReader<ApiObject>;
}

/**
 * The function that looks up an object of a kind. `complete` adds the outputs that its record lacks; `extraOutputs` are outputs
 * that the resource does not have.
 */
export const lookup = <ApiObject extends { id: string; name: string }, Result extends object>(
  noun: string,
  resource: LookupSource<ApiObject>,
  complete: (record: ApiObject, context: CallContext) => Promise<Result> | Result,
  { remark = "", extraOutputs = {} }: { remark?: string; extraOutputs?: z.ZodRawShape } = {},
): FunctionDefinition<LookUp, Result> => ({
  description: `Finds an existing ${noun} by its id or its unique name.${remark}`,
  args: {
    id: `Id of the ${noun}; required if no name is set.`,
    name: `Name of the ${noun}, which must be unique; required if no id is set.`,
  },
  required: [],
  outputs: () => resultOf(resource).extend(extraOutputs),
  run: async (args, context) => complete(await find(resource, args, context), context),
});

/** Result of a lookup: id, inputs and outputs, without properties that the service does not return or store. */
function resultOf({ inputs, outputs }: ResourceSchemas): z.ZodObject {
  const visible = Object.entries(inputs.shape).filter(([key, shape]) => {
    const { writeOnly, ignoredAfterCreate, notSent } = optionsOf(shape);
    return key !== "name" && !writeOnly && !ignoredAfterCreate && !notSent;
  });
  return z.object({
    id: z.string().describe("Id of the object."),
    name: z.string().describe("Name of the object."),
    ...Object.fromEntries(visible),
    ...outputs.shape,
  });
}

/** Finds an object; rejects if it does not exist or if several objects have the name. An equal name precedes an equivalent one. */
async function find<ApiObject extends { id: string; name: string }>(
  source: LookupSource<ApiObject>,
  { id, name }: LookUp,
  context: CallContext,
): Promise<ApiObject> {
  const { kind, reader } = source;
  const key = id ?? name ?? "";
  if (key === "" || (id !== undefined && name !== undefined))
    throw new TypeError(`a lookup of a ${kind} requires an id or a name, and not both`);
  const label = `${kind} "${key}"`;
  return explainLookup(label, context.settings, async () => {
    if (id !== undefined) {
      const object = await reader(context).get(id, context);
      if (object) return object;
      throw new Error(`${label} does not exist: no object in the account has this id`);
    }
    const listing = await reader(context).list(context);
    const equivalent = listing.objects.filter((candidate) => hasName(source, candidate, key));
    const equal = equivalent.filter((candidate) => candidate.name === key);
    const [object, ...duplicates] = equal.length > 0 ? equal : equivalent;
    // An unreadable object may have the requested name.
    const unreadable = listing.unreadable.find((candidate) => candidate.name === undefined || candidate.name === name);
    if (unreadable) throw unreadable.error;
    if (!object) throw new Error(`${label} does not exist: no object in the account has this name`);
    if (duplicates.length === 0) return object;
    const ids = [object, ...duplicates].map((match) => match.id).join(", ");
    throw new Error(`${label} is ambiguous: several objects have this name (${ids}); look it up by id`);
  });
}
