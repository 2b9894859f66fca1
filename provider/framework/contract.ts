import type { Clients, Clock, Dialect } from "serverless-compute-api";
import type { PropertyOptions } from "serverless-compute-api/shapes";
import type { Path, Properties } from "../engine/values";
import type { OperationSettings } from "../settings/setting-names";
import type { Owners } from "./owners";

/** Values and paths that messages about a resource must not show. */
export interface Secrets {
  /** Secret paths, including everything below them. */
  readonly paths: readonly Path[];
  /** The secret values, because texts of the service may repeat them. */
  readonly values: readonly string[];
}

/** The secrets of operations without any. */
export const noSecrets: Secrets = { paths: [], values: [] };

/** An invalid input: its path, and a sentence with the value (unless secret) and the allowed values. */
export interface Failure {
  /** Path in Pulumi's property path syntax, such as `env.MODEL` or `gpuTypeIds[0]`; empty if the failure concerns all inputs. */
  path: string;
  /** Begins the message with the value; omitted if the value is secret. */
  shown?: string | undefined;
  reason: string;
}

/** A property that differs; `replace` if it cannot change in place. */
export interface Change {
  path: string[];
  kind: "add" | "update" | "delete";
  replace: boolean;
}

/** The changes of a resource that follow from the options of its properties. During a check, there are none. */
export interface PlannedChange {
  changes: Change[];
  olds: Properties;
  news: Properties;
  dialect: Dialect | undefined;
}

/** Context of every operation that calls the service. */
export interface Context {
  clients: Clients;
  clock: Clock;
  /** Aborts on cancellation. Operations then reject with its reason and leave a state from which the next deployment continues. */
  signal: AbortSignal;
  /** Shows progress on the resource's line; the last text wins. */
  progress(text: string): void;
  /** Shows a warning that stays after the deployment. */
  warn(text: string): void;
  /** Timeout of the operation in ms, if the user sets one; operations use `deadline`. */
  timeout?: number | undefined;
  /** Deadline of the operation by the clock; undefined without a timeout. */
  deadline?: number | undefined;
  /** Deadline of cleanup and lookups after `deadline`. */
  cleanupDeadline?: number | undefined;
  /** The signal without the operation's own timeout, for requests that several operations share. */
  cancelSignal?: AbortSignal | undefined;
  /** Called if a request is not retried, or a verification ends, because of `deadline`. */
  onDeadline?: (() => void) | undefined;
  /** Reports whether the service has an object of the state that a read or a delete looked for. */
  reportFound?: ((exists: boolean) => void) | undefined;
  /** URN of the resource; empty if the state lacks it. */
  urn: string;
  /** The resources of the program that have an object. */
  owners: Owners;
  /** Secrets that no message may show. */
  secrets: Secrets;
  /** Limits of waits. */
  settings: OperationSettings;
}

/** An object of the service, in the terms of the resource. */
export interface ReadResult {
  inputs: Properties;
  outputs: Properties;
}

/** Default name of a resource. */
export interface Naming {
  /** Absent if the program must set a name. `isUnique`: newly generated, so no other object has it. */
  defaultName?: { name: string; isUnique: boolean } | undefined;
  /** Source of a random suffix. */
  seed: Uint8Array;
}

/** Source of the name in checked inputs: the program, `pulumi:autonaming`, or a random suffix. */
export type NameSource = "program" | "autonaming" | "random";

/** Information that a preview has about a resource besides its inputs. */
export interface PreviewContext {
  /** Id of the resource; undefined before its creation. */
  id?: string | undefined;
  /** Host address of the job API; undefined if the settings have no valid one. */
  serverlessUrl?: string | undefined;
  /** Dialect of the deployment; absent before it is known. */
  dialect?: Dialect | undefined;
}

/**
 * Operations of a resource, independent of Pulumi, for the dynamic provider and the plugin. `inputs` are checked, with
 * defaults filled in. `outputs` contain the inputs, at the same paths, and values computed by the service; an absent key is
 * omitted, never undefined. Each kind is written with its own types and converted by `defineResource`
 * (framework/operations.ts), which parses at the boundary.
 */
export interface ResourceOperations {
  /** Name of the resource type, such as `Template`. */
  readonly kind: string;
  /** PropertyOptions of the top-level inputs and outputs, for example secrets. */
  readonly options: Readonly<Record<string, PropertyOptions>>;
  /** Paths in outputs that repeat the values at secret paths; absent for kinds without such outputs. */
  readonly derivedSecrets?: ((paths: readonly Path[]) => Path[]) | undefined;
  /**
   * Checks new inputs, fills in defaults and records them; skips unknown values. `olds` is empty for a new resource. A resource
   * whose program sets no name keeps the one in state; a new one gets the default name.
   * No failure shows values that are secret by their shape or at one of the paths `secrets`. Without a dialect, inputs of
   * all dialects are accepted.
   */
  check(
    olds: Properties,
    news: Properties,
    naming: Naming,
    secrets?: readonly Path[],
    dialect?: Dialect,
  ): { inputs: Properties; failures: Failure[] };
  /** Warnings about new inputs that are valid but likely to be mistakes, except values that `olds` already has. */
  inputWarnings(olds: Properties, news: Properties, secrets: readonly Path[]): string[];
  /**
   * Findings about checked inputs that the service may be unable to fulfil now, such as a lack of stock. Sends a number of requests
   * that does not depend on the number of resources. Absent for kinds without findings.
   */
  preflight?: ((olds: Properties, news: Properties, context: Context) => Promise<Failure[]>) | undefined;
  /**
   * Warning with the changes to the existing object that a create with these inputs adopts; undefined if there is none. Rejects if
   * the object cannot be adopted. Absent for kinds without objects.
   */
  adoptionWarning?: ((inputs: Properties, context: Context) => Promise<string | undefined>) | undefined;
  /** Changes of a deployment; an unknown value counts as a change. Makes no API calls. */
  diff(olds: Properties, news: Properties, dialect?: Dialect): Change[];
  /** Warnings for a preview of changes. */
  warnings(change: PlannedChange): string[];
  /**
   * Returns the outputs of a create (no `olds`) or an update, as far as they are known in advance; the rest is
   * Unknown. Makes no API calls.
   */
  previewOutputs(olds: Properties | undefined, news: Properties, context: PreviewContext): Properties;
  create(inputs: Properties, context: Context): Promise<{ id: string; outputs: Properties }>;
  /** The object in the service, undefined if absent. `olds` is empty for an import. */
  read(id: string, olds: Properties, context: Context): Promise<ReadResult | undefined>;
  /** Returns the new outputs. */
  update(id: string, olds: Properties, news: Properties, context: Context): Promise<Properties>;
  /** Deletes the object and its duplicates; without an id, only the duplicates. Deleting an absent object succeeds. */
  delete(id: string | undefined, olds: Properties, context: Context): Promise<void>;
}
