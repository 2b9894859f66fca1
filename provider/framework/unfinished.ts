import { isApiError } from "serverless-compute-api";
import { type Properties, textsIn } from "../engine/values";
import type { Context } from "./contract";
import type { ResourceDefinition, Update } from "./definition";
import { ResourceInitError } from "./errors";

/** Key of the state with the ids of duplicates that a create could not delete. */
export const duplicatesKey = "duplicates";

/** Key of the state with the names of the properties that a failed update may have changed. */
export const unconfirmedKey = "unconfirmed";

/** Names of the properties that the next update sends although they may be equal to those in the state. */
export const unconfirmedIn = (state: Properties): string[] => textsIn(state[unconfirmedKey]);

/** Keys of a state with unfinished work for the next update. */
export const unfinishedIn = (state: Properties): string[] => [
  ...unconfirmedIn(state),
  ...(duplicatesKey in state ? [duplicatesKey] : []),
];

/** Returns true if the service may have applied an update that failed, or a part of it. A rejection proves that it did not. */
export const mayBeApplied = (error: unknown, { signal }: Pick<Context, "signal">): boolean =>
  signal.aborted || (isApiError(error) && (error.retryable || error.category === "server"));

/**
 * Runs an update. If it fails although the service may have applied it, or a part of it, the state keeps the names of its properties: the
 * program may return to the values in the state, and a refresh cannot read all properties.
 */
export async function updateOrMark<Inputs extends object, Outputs extends object>(
  id: string,
  update: Update<Inputs>,
  context: Context,
  apply: ResourceDefinition<Inputs, Outputs>["update"],
): Promise<Partial<Outputs>> {
  let isApplied = false;
  const onApplied = (): void => {
    isApplied = true;
  };
  try {
    return await apply(id, { ...update, onApplied }, context);
  } catch (error) {
    if (error instanceof ResourceInitError || !(isApplied || mayBeApplied(error, context))) throw error;
    // A property that the program has removed is only in the state.
    const { [duplicatesKey]: _duplicates, ...properties } = { ...update.olds, ...update.news };
    const names = Object.keys(properties).filter(update.changed);
    throw new ResourceInitError(
      'the service may have applied this update or a part of it; the next "pulumi up" sends it again',
      id,
      { [unconfirmedKey]: names },
      { cause: error, inputs: update.olds },
    );
  }
}
