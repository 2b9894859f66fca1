import { createRedaction } from "serverless-compute-api/redaction";
import { messageOf } from "../engine/error-text";
import { type Path, type PropertyMap, Unknown } from "../engine/values";
import {
  type Change,
  type Context,
  type NameSource,
  type Naming,
  ResourceInitError,
  type ResourceOperations,
  type Secrets,
} from "./contract";
import { ResourceFailure } from "./failures";
import { withHelp } from "./help-address";
import { helpOf } from "./messages";
import { findingsOf, recordObject } from "./preflight";
import type { Host } from "./process";
import {
  hasPlaintextSecrets,
  isSecretAt,
  secretOutputs,
  secretPathsOfShape,
  secretsIn,
} from "./properties/secret-paths";
import type { CheckFailure, ResourceCall, ResourceDiff } from "./resource-types";

/** The verbs of one kind, for the dynamic provider and the plugin. */
export type ResourceVerbs = ReturnType<typeof createResourceVerbs>;

/**
 * Runs the verbs of a lifecycle for the dynamic provider and the plugin, with the process's clients, cancellation and log.
 * Messages contain no secrets; responses contain the paths to mark as secret.
 */
export function createResourceVerbs(lifecycle: ResourceOperations, host: Host) {
  const { kind, options } = lifecycle;
  const nameSourceOf = (urn: string): NameSource | undefined => host.deployment().nameSources.get(urn);

  const shapeSecretPaths = secretPathsOfShape(lifecycle);
  const secretsOf = (sets: readonly PropertyMap[]): Secrets =>
    secretsIn(
      sets.map(({ properties }) => properties),
      [...shapeSecretPaths, ...sets.flatMap(({ secretPaths }) => secretPaths)],
    );

  const inputsOf = (properties: PropertyMap["properties"], { secretPaths }: PropertyMap): PropertyMap => ({
    properties,
    secretPaths: [...shapeSecretPaths, ...secretPaths],
  });
  const outputsOf = (
    properties: PropertyMap["properties"],
    { secretPaths }: PropertyMap,
    known?: PropertyMap["properties"][],
  ): PropertyMap => ({
    properties,
    secretPaths: secretOutputs(lifecycle, secretPaths, properties, known),
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
      if (!(thrown instanceof ResourceInitError)) throw new ResourceFailure(message);
      const [inputs] = sets;
      // Reverted properties have earlier values, so a path that is secret in any set is secret here.
      const secretPaths = sets.flatMap((set) => set.secretPaths);
      const known = sets.map(({ properties }) => properties);
      const outputs = outputsOf(thrown.outputs, { ...inputs, secretPaths }, known);
      throw new ResourceFailure(message, { id: thrown.id, outputs, inputs });
    }
  };

  /** Runs a verb that talks to the service. */
  const runVerb = <Result>(
    { urn, timeout }: ResourceCall,
    sets: readonly [PropertyMap, ...PropertyMap[]],
    action: (context: Context) => Promise<Result>,
  ): Promise<Result> =>
    redactFailures(sets, (secrets, redact) => {
      const createLogger = (level: "progress" | "warning") => (text: string) => {
        if (urn !== "") void host.log[level](urn, redact(text));
      };
      const context: Omit<Context, "signal"> = {
        ...host.connect(),
        clock: host.clock,
        ownedIds: host.deployment().ownedIds,
        secrets,
        timeout,
        hasUniqueName: nameSourceOf(urn) === "random",
        progress: createLogger("progress"),
        warn: createLogger("warning"),
        reportFound: host.reportFound,
      };
      return host.cancellation.run((signal) => action({ ...context, signal }));
    });

  /** Warns about the changes of an existing object that a create adopts. */
  const warnAboutAdoption = async (
    { urn, olds, news }: { urn: string; olds: PropertyMap; news: PropertyMap },
    run: <Result>(action: (context: Context) => Promise<Result>) => Promise<Result>,
  ): Promise<void> => {
    const { adoptExisting, name } = news.properties;
    const isCreate = olds.properties["name"] !== name;
    if (!lifecycle.adoptionWarning || urn === "" || adoptExisting !== true || !isCreate) return;
    const { adoptionWarning } = lifecycle;
    const warning = await run((context) => adoptionWarning(news.properties, context)).catch(
      (error: unknown) => `adoptExisting: the changes of an adoption cannot be shown: ${messageOf(error)}`,
    );
    if (warning !== undefined) void host.log.warning(urn, createRedaction(secretsOf([news]).values)(warning));
  };

  const requireId = (id: string): string => {
    if (id) return id;
    throw new Error(`the service created the ${kind} but returned no id`);
  };

  return {
    /** Checks new inputs and fills in the name that the program leaves out. */
    async check({ urn }: ResourceCall, olds: PropertyMap, news: PropertyMap, naming: Naming) {
      const secrets = secretsOf([olds, news]);
      const redact = createRedaction(secrets.values);
      const { inputs, failures, nameSource } = lifecycle.check(
        olds.properties,
        news.properties,
        naming,
        secrets.paths,
        host.dialect(),
      );
      if (urn !== "") {
        host.warnBeforeCheck(Object.keys(olds.properties).length === 0);
        host.deployment().checkedUrns.add(urn);
        host.deployment().nameSources.set(urn, nameSource);
        for (const warning of lifecycle.catalogWarnings(olds.properties, inputs, secrets.paths))
          void host.log.warning(urn, redact(warning));
      }
      const resource = { urn, olds, news: inputsOf(inputs, news), paths: secrets.paths };
      const findings =
        failures.length > 0
          ? []
          : await findingsOf(lifecycle, host, resource, (action) => runVerb({ urn }, [news, olds], action));
      if (failures.length === 0) await warnAboutAdoption(resource, (action) => runVerb({ urn }, [news, olds], action));
      const isError = findings.length > 0 && host.preflight() === "error";
      if (!isError) for (const { path, reason } of findings) void host.log.warning(urn, redact(`${path}: ${reason}`));
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

    /** Compares; `forcesReplacement` selects the changes that a resource option turns into replacements. */
    diff(
      { urn }: ResourceCall,
      id: string,
      olds: PropertyMap,
      news: PropertyMap,
      forcesReplacement: (path: Path) => boolean = () => false,
    ): Promise<ResourceDiff> {
      const isRefresh = !host.deployment().checkedUrns.delete(urn);
      host.deployment().ownedIds.set(id, "state");
      recordObject(host, id, inputsOf(news.properties, news));
      return redactFailures([news, olds], () => {
        const dialect = host.dialect();
        const differences = lifecycle.diff(olds.properties, news.properties, dialect);
        const changes = differences.map((difference) => ({
          ...difference,
          replace: difference.replace || forcesReplacement(difference.path),
        }));
        const keepsName =
          nameSourceOf(urn) === "program" &&
          Object.entries(options).some(([key, { unique }]) => unique && olds.properties[key] === news.properties[key]);
        // A refresh changes nothing at the service.
        if (!isRefresh)
          for (const warning of lifecycle.warnings({
            changes,
            olds: olds.properties,
            news: news.properties,
            dialect,
            keepsName,
          }))
            void host.log.warning(urn, warning);
        // Independent of the changes, because a resource option such as `replaceOnChanges` can turn any change into a replacement.
        return {
          changes,
          hasPlaintextSecrets: !isRefresh && hasPlaintextSecrets(inputsOf(olds.properties, olds), news.secretPaths),
          replaces: changedProperties(changes.filter(({ replace }) => replace)),
          deleteBeforeReplace: keepsName,
        };
      });
    },

    /**
     * Known outputs of a create (no id, no olds) or an update. A generated name is provisional, because the update generates
     * another one.
     */
    previewOutputs(
      { urn }: ResourceCall,
      id: string | undefined,
      olds: PropertyMap | undefined,
      news: PropertyMap,
    ): PropertyMap {
      const previewContext = { id, serverlessUrl: host.serverlessUrl() };
      const isProvisional = olds === undefined && (nameSourceOf(urn) ?? "program") !== "program";
      const inputs = isProvisional ? { ...news.properties, name: Unknown.value } : news.properties;
      return outputsOf(lifecycle.previewOutputs(olds?.properties, inputs, previewContext), news);
    },

    create: (call: ResourceCall, news: PropertyMap) =>
      runVerb(call, [news], async (context) => {
        const { id, outputs } = await lifecycle.create(news.properties, context);
        const created = outputsOf(outputs, news);
        recordObject(host, id, created);
        return { id: requireId(id), outputs: created };
      }),

    /** Reads the object; undefined if it does not exist. `inputs` are those of the state, if available. */
    read: (call: ResourceCall, id: string, olds: PropertyMap, inputs: PropertyMap) =>
      runVerb(call, [olds, inputs], async (context) => {
        if (!id) throw new Error("cannot read: the id is empty");
        // Without state it is an import or a program's lookup.
        const hasState = Object.keys(olds.properties).length > 0;
        const reportFound = hasState ? context.reportFound : undefined;
        const result = await lifecycle.read(id, olds.properties, { ...context, reportFound });
        if (!result) return undefined;
        const known = hasState ? [olds.properties, inputs.properties] : undefined;
        const outputs = outputsOf(result.outputs, olds, known);
        recordObject(host, result.id, outputs);
        const { secretPaths } = outputsOf(result.inputs, inputs, known);
        return { id: requireId(result.id), outputs, inputs: inputsOf(result.inputs, { ...inputs, secretPaths }) };
      }),

    update: (call: ResourceCall, id: string, olds: PropertyMap, news: PropertyMap) =>
      runVerb(call, [news, olds], async (context) =>
        outputsOf(await lifecycle.update(id, olds.properties, news.properties, context), news),
      ),

    delete: (call: ResourceCall, id: string, olds: PropertyMap) =>
      runVerb(call, [olds], (context) => lifecycle.delete(id, olds.properties, context)),
  };
}

/** Top-level properties with changes, each once. */
export const changedProperties = (changes: readonly Change[]): string[] => [
  ...new Set(changes.map(({ path }) => path[0] ?? "")),
];
