import { createRedaction } from "serverless-compute-api/redaction";
import { messageOf } from "../engine/error-text";
import { hasUnknown, type Path, type PropertyMap, Unknown } from "../engine/values";
import type { Change, Context, Naming, ResourceOperations, Secrets } from "./contract";
import { changedProperties } from "./definition";
import { helpOf, ResourceInitError, UserError } from "./errors";
import { withHelp } from "./help";
import { keepsUniqueName } from "./names";
import { addOwner, ownerOf, removeOwner } from "./owners";
import { findingsOf, type RunCheck } from "./preflight";
import type { ProviderProcess } from "./process";
import { nameSourceOf } from "./properties/defaults";
import {
  hasPlaintextSecrets,
  isSecretAt,
  secretOutputs,
  secretPathsOfShape,
  secretState,
  secretsIn,
} from "./properties/secret-paths";
import { parseUrn } from "./urn";

/** The subject of an operation. */
export interface ResourceCall {
  /** URN of the resource; empty if the state lacks it. */
  urn: string;
  /** Custom timeout of the operation, ms. */
  timeout?: number | undefined;
}

/** Result of a diff. */
interface ResourceDiff {
  changes: Change[];
  /** True if an update must encrypt values in the state that the program has made secret; it sends no request without changes. */
  hasPlaintextSecrets: boolean;
  /** Top-level properties that force a replacement, each once. */
  replaces: string[];
  /** True if the old object must be deleted first, because both would have the same unique name. */
  deleteBeforeReplace: boolean;
}

/** An invalid input in the form of the engine. */
interface CheckFailure {
  /**
   * Top-level property whose value the engine prints; empty if the value is absent, long or secret. The engine prints `{<nil>}` for
   * a nested path, so the reason begins with the path instead.
   */
  property: string;
  reason: string;
}

/** The operations of one kind, for the dynamic provider and the plugin. */
export type Pipeline = ReturnType<typeof createPipeline>;

/**
 * Runs the operations of a kind for the dynamic provider and the plugin, with the process's clients, cancellation and log.
 * Messages contain no secrets; responses contain the paths to mark as secret.
 */
export function createPipeline(operations: ResourceOperations, providerProcess: ProviderProcess) {
  const { options } = operations;

  const shapeSecretPaths = secretPathsOfShape(operations);
  const secretsOf = (sets: readonly PropertyMap[]): Secrets =>
    secretsIn(
      sets.map(({ properties }) => properties),
      [...shapeSecretPaths, ...sets.flatMap(({ secretPaths }) => secretPaths)],
    );

  const withSecrets = (
    properties: PropertyMap["properties"],
    { secretPaths }: PropertyMap,
    ...programs: PropertyMap["properties"][]
  ): PropertyMap => ({
    properties,
    secretPaths: secretOutputs(operations, secretPaths, properties, programs),
  });

  /** Runs an action that may fail; the first of `sets` contains the inputs of an unfinished object. */
  const redactFailures = async <Result>(
    sets: readonly [PropertyMap, ...PropertyMap[]],
    action: (secrets: Secrets, redact: (text: string) => string) => Promise<Result> | Result,
  ): Promise<Result> => {
    const secrets = secretsOf(sets);
    const redact = createRedaction(secrets.values);
    try {
      return await action(secrets, redact);
    } catch (thrown) {
      const message = withHelp(redact(messageOf(thrown)), helpOf(thrown));
      if (!(thrown instanceof ResourceInitError)) throw new UserError(message);
      const [inputs] = sets;
      // Reverted properties have earlier values, so a path that is secret in any set is secret here.
      const secretPaths = sets.flatMap((set) => set.secretPaths);
      const outputs = withSecrets(thrown.outputs, { ...inputs, secretPaths }, inputs.properties);
      throw new ResourceInitError(message, thrown.id, outputs.properties, { secretPaths: outputs.secretPaths });
    }
  };

  /** Runs an operation that talks to the service. */
  const runOperation = <Result>(
    { urn, timeout }: ResourceCall,
    sets: readonly [PropertyMap, ...PropertyMap[]],
    action: (context: Context) => Promise<Result>,
  ): Promise<Result> =>
    redactFailures(sets, (secrets, redact) => {
      const createLogger = (level: "progress" | "warning") => (text: string) => {
        if (urn !== "") void providerProcess.log[level](urn, redact(text));
      };
      const context: Omit<Context, "signal"> = {
        ...providerProcess.connect(),
        clock: providerProcess.clock,
        urn,
        owners: providerProcess.deployment().owners,
        secrets,
        timeout,
        progress: createLogger("progress"),
        warn: createLogger("warning"),
        reportFound: providerProcess.reportFound,
      };
      return providerProcess.cancellation.run((signal) => action({ ...context, signal }));
    });

  /** Warns about the changes of an existing object that a create adopts. */
  const warnAboutAdoption = async (
    { urn, olds, news }: { urn: string; olds: PropertyMap; news: PropertyMap },
    run: RunCheck,
  ): Promise<void> => {
    const { adoptionWarning } = operations;
    if (!adoptionWarning || urn === "" || hasProperties(olds) || news.properties["adoptExisting"] !== true) return;
    const warning = await run((context) => adoptionWarning(news.properties, context)).catch(
      (error: unknown) => `adoptExisting: the changes of an adoption cannot be shown: ${messageOf(error)}`,
    );
    if (warning !== undefined)
      void providerProcess.log.warning(urn, createRedaction(secretsOf([news]).values)(warning));
  };

  return {
    /** Checks new inputs and fills in the name that the program leaves out. */
    async check({ urn }: ResourceCall, olds: PropertyMap, news: PropertyMap, naming: Naming) {
      const { configuration, checkedUrns, owners } = providerProcess.deployment();
      const secrets = secretsOf([olds, news]);
      const redact = createRedaction(secrets.values);
      const { inputs, failures } = operations.check(
        olds.properties,
        news.properties,
        naming,
        secrets.paths,
        configuration.dialect(),
      );
      if (urn !== "") {
        const isNew = !hasProperties(olds);
        providerProcess.warnBeforeCheck(isNew);
        checkedUrns.add(urn);
        // The engine checks a resource that it replaces again, as a new one.
        if (isNew) removeOwner(owners, urn);
        for (const warning of operations.inputWarnings(olds.properties, inputs, secrets.paths))
          void providerProcess.log.warning(urn, redact(warning));
      }
      const resource = { urn, olds, news: withSecrets(inputs, news, inputs), paths: secrets.paths };
      const run: RunCheck = (action) => runOperation({ urn }, [news, olds], action);
      const findings = failures.length > 0 ? [] : await findingsOf(operations, providerProcess, resource, run);
      if (failures.length === 0) await warnAboutAdoption(resource, run);
      const isError = findings.length > 0 && configuration.preflight() === "error";
      if (!isError)
        for (const { path, reason } of findings) void providerProcess.log.warning(urn, redact(`${path}: ${reason}`));
      return {
        inputs: resource.news,
        failures: [...failures, ...(isError ? findings : [])].map(({ path, reason }): CheckFailure => {
          const value = Object.hasOwn(options, path) ? (news.properties[path] ?? undefined) : undefined;
          const isShort = value !== undefined && typeof value !== "object" && redact(`${value}`) === `${value}`;
          return isShort && !isSecretAt([path], secrets.paths)
            ? { property: path, reason: redact(reason) }
            : { property: "", reason: redact(path === "" ? reason : `${path}: ${reason}`) };
        }),
      };
    },

    /**
     * Compares; `forcesReplacement` selects the changes that a resource option turns into replacements. A diff without a check belongs
     * to a refresh, or to the engine's search for the dependents of an object that it deletes before its replacement. The dependent
     * properties are unknown then. Without the option, they force no replacement, because the diff after the dependent's own check decides.
     */
    diff(
      { urn }: ResourceCall,
      id: string,
      olds: PropertyMap,
      news: PropertyMap,
      forcesReplacement: (path: Path) => boolean = () => false,
    ): Promise<ResourceDiff> {
      const { configuration, checkedUrns, owners } = providerProcess.deployment();
      const isChecked = checkedUrns.delete(urn);
      if (isChecked) addOwner(owners, id, urn);
      return redactFailures([news, olds], (_secrets, redact) => {
        const dialect = configuration.dialect();
        const differences = operations.diff(olds.properties, news.properties, dialect);
        const changes = differences.map((difference) => ({
          ...difference,
          replace:
            forcesReplacement(difference.path) ||
            (difference.replace && (isChecked || !hasUnknown(news.properties[difference.path[0] ?? ""]))),
        }));
        const states = { olds: olds.properties, news: news.properties };
        if (isChecked)
          for (const warning of operations.warnings({ changes, ...states, dialect }))
            void providerProcess.log.warning(urn, redact(warning));
        // Independent of the changes, because a resource option such as `replaceOnChanges` can turn any change into a replacement.
        return {
          changes,
          hasPlaintextSecrets:
            isChecked &&
            hasPlaintextSecrets({ ...olds, secretPaths: [...shapeSecretPaths, ...olds.secretPaths] }, news.secretPaths),
          replaces: changedProperties(changes.filter(({ replace }) => replace)),
          deleteBeforeReplace: keepsUniqueName(options, states),
        };
      });
    },

    /**
     * Known outputs of a create (no id, no olds) or an update. A generated name is provisional, because the update generates
     * another one.
     */
    previewOutputs(id: string | undefined, olds: PropertyMap | undefined, news: PropertyMap): PropertyMap {
      const { configuration } = providerProcess.deployment();
      const previewContext = { id, serverlessUrl: configuration.serverlessUrl(), dialect: configuration.dialect() };
      const isProvisional = olds === undefined && nameSourceOf(news.properties) !== "program";
      const inputs = isProvisional ? { ...news.properties, name: Unknown.value } : news.properties;
      const outputs = operations.previewOutputs(olds?.properties, inputs, previewContext);
      return withSecrets(outputs, news, news.properties);
    },

    create: (call: ResourceCall, news: PropertyMap) =>
      runOperation(call, [news], async (context) => {
        const keep = ({ id }: { id: string }) => addOwner(context.owners, id, call.urn);
        try {
          const { id, outputs } = await operations.create(news.properties, context);
          const created = { id, outputs: withSecrets(outputs, news, news.properties) };
          keep(created);
          return created;
        } catch (error) {
          if (error instanceof ResourceInitError) keep(error);
          throw error;
        }
      }),

    /**
     * Reads the object; undefined if a refresh does not find it. Without state, it is an import or a program's lookup, which fails without
     * an object. A state without inputs is that of a lookup: a refresh reads it in the same way, because no program sets its properties.
     */
    read: (call: ResourceCall, id: string, olds: PropertyMap, inputs: PropertyMap, isLookup = !hasProperties(olds)) =>
      runOperation(call, [olds, inputs], async (context) => {
        if (!id) throw new Error("cannot read: the id is empty");
        const reportFound = isLookup ? undefined : context.reportFound;
        const isOfLookup = hasProperties(olds) && !hasProperties(inputs);
        const result = await operations.read(id, isOfLookup ? {} : olds.properties, { ...context, reportFound });
        if (!result && isLookup)
          throw new UserError(
            `${operations.kind} ${JSON.stringify(id)}: does not exist; pass the id (not the name) of a ${operations.kind} in the account of the API key`,
          );
        if (!result) return undefined;
        // With the resource option additionalSecretOutputs, only the outputs in the state are secret.
        const secretPaths = [...inputs.secretPaths, ...olds.secretPaths];
        const stateOf = (properties: PropertyMap["properties"]): PropertyMap => ({
          properties,
          secretPaths: secretState(operations, secretPaths, properties, [olds.properties, inputs.properties]),
        });
        return { outputs: stateOf(result.outputs), inputs: isOfLookup ? inputs : stateOf(result.inputs) };
      }),

    update: (call: ResourceCall, id: string, olds: PropertyMap, news: PropertyMap) =>
      runOperation(call, [news, olds], async (context) =>
        withSecrets(await operations.update(id, olds.properties, news.properties, context), news, news.properties),
      ),

    /** Deletes the object, unless a resource of the program has it, for example by adoption or import under a new name. */
    delete: (call: ResourceCall, id: string, olds: PropertyMap) =>
      runOperation(call, [olds], async (context) => {
        const keeper = ownerOf(context.owners, id);
        await operations.delete(keeper === undefined ? id : undefined, olds.properties, context);
        if (keeper === undefined) return;
        const reason =
          keeper === call.urn
            ? "replaced, because its replacement adopted it; to replace it, set the resource option deleteBeforeReplace: true"
            : `deleted, because the resource "${parseUrn(keeper).name}" of the program has the same object`;
        context.warn(`${operations.kind} ${JSON.stringify(olds.properties["name"] ?? id)} was not ${reason}`);
      }),
  };
}

const hasProperties = ({ properties }: PropertyMap): boolean => Object.keys(properties).length > 0;
