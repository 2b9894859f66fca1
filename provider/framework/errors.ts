import type { Path, Properties } from "../engine/values";
import type { HelpKey } from "./help";

/** A failure with a message for users; `cause` is the ApiError, if there is one. */
export class UserError extends Error {
  override readonly name: string = "UserError";
  /** Key of the help page. */
  readonly help: HelpKey | undefined;
  constructor(message: string, { help, ...options }: { cause?: unknown; help?: HelpKey | undefined } = {}) {
    super(message, options);
    this.help = help;
  }
}

/** Failure that leaves an unfinished object: the engine keeps `id` and `outputs` in state, and the next deployment updates it. */
export class ResourceInitError extends UserError {
  override readonly name = "ResourceInitError";
  /** Inputs of the object, if they differ from the requested ones. */
  readonly inputs: Properties | undefined;
  /** Secret paths of the outputs; the pipeline adds them. */
  readonly secretPaths: readonly Path[];
  constructor(
    message: string,
    readonly id: string,
    readonly outputs: Properties,
    {
      inputs,
      secretPaths = [],
      ...options
    }: {
      inputs?: Properties | undefined;
      secretPaths?: readonly Path[];
      cause?: unknown;
      help?: HelpKey | undefined;
    } = {},
  ) {
    super(message, options);
    this.inputs = inputs;
    this.secretPaths = secretPaths;
  }
}

/** Returns the key of the help page of an error; undefined if it has none. */
export const helpOf = (error: unknown): HelpKey | undefined => (error instanceof UserError ? error.help : undefined);
