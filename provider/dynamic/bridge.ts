import type { dynamic } from "@pulumi/pulumi";
import { createRedaction } from "serverless-compute-api/redaction";
import { replacement, secretByShape, secretOutputs } from "../engine/answers";
import { obeyEngine } from "../engine/cancellation";
import { messageOf } from "../engine/failures";
import { createHost, type Host } from "../engine/host";
import { sealed, toWire, type Wire } from "../engine/values";
import { type Context, type Lifecycle, PartialFailure, type Properties, type Secrets } from "../lifecycle/contract";
import { secretsAmong } from "../lifecycle/properties/secret-paths";
import { kinds } from "../resources";
import { UnfinishedFailure, VerbFailure } from "./failures";
import { type Hidden, splitHidden, type TimedVerb } from "./hidden";

/** One object's properties in a verb: what the user wrote, what the class added. */
type Split = ReturnType<typeof splitHidden>;

/**
 * A lifecycle as Pulumi calls it. It guards against what the engine's protocol does with anything unusual (a hang, an
 * orphan, a stack trace on screen): every failure becomes an Error with a sentence, every answer JSON with the hidden
 * properties in it, every secret stays marked.
 */
export function createProvider(lifecycle: Lifecycle, host: Host): dynamic.ResourceProvider<Wire, Wire> {
  const secretInputs = secretByShape(lifecycle);
  /** Resources whose inputs were checked and not yet compared: a diff without a check belongs to a refresh. */
  const checked = new Set<string>();

  /** Ids that the state has: a create that looks for what an interrupted one left takes none of them. */
  const deployed = new Set<string>();

  const outputsToWire = (outputs: Properties, hidden: Hidden): Wire => ({
    ...sealed(toWire(outputs), secretOutputs(lifecycle, hidden.secrets)),
    ...hidden.wire,
  });

  const secretsOf = (sides: readonly Split[]): Secrets =>
    secretsAmong(
      sides.map(({ visible }) => visible),
      [...secretInputs, ...sides.flatMap(({ hidden }) => hidden.secrets)],
    );

  /** Runs a verb; whatever it throws leaves as a failure that Pulumi shows well. */
  const guarded = async <Answer>(
    verb: TimedVerb | "read" | "diff",
    sides: [Split, ...Split[]],
    act: () => Promise<Answer> | Answer,
  ): Promise<Answer> => {
    const { hidden } = sides[0];
    try {
      return await act();
    } catch (thrown) {
      const subject = `${lifecycle.kind} ${JSON.stringify(hidden.resourceName)}, ${verb}`;
      const message = createRedaction(secretsOf(sides).values)(messageOf(thrown));
      if (!(thrown instanceof PartialFailure)) throw new VerbFailure(subject, message);
      throw new UnfinishedFailure(subject, message, thrown.id, outputsToWire(thrown.outputs, hidden));
    }
  };

  /** Runs a verb that talks to the service. `sides[0]` is the one whose hidden properties count. */
  const talking = <Answer>(
    verb: TimedVerb | "read",
    sides: [Split, ...Split[]],
    act: (context: Context) => Promise<Answer>,
  ): Promise<Answer> =>
    guarded(verb, sides, () => {
      const { hidden } = sides[0];
      const secrets = secretsOf(sides);
      const clean = createRedaction(secrets.values);
      const shared = {
        ...host.connect(),
        clock: host.clock,
        defaultName: hidden.defaultName,
        inState: deployed,
        secrets,
        timeout: verb === "read" ? undefined : hidden.timeout(verb),
        progress: (text: string) => {
          if (hidden.urn) host.log.progress(hidden.urn, clean(text));
        },
        warn: (text: string) => {
          if (hidden.urn) host.log.warning(hidden.urn, clean(text));
        },
      };
      return host.cancellation.run((signal) => act({ ...shared, signal }));
    });

  const filledId = (id: string): string => {
    if (!id) throw new Error(`the service made the ${lifecycle.kind} but answered without its id`);
    return id;
  };

  return {
    configure: async ({ config }) => host.keepConfiguration((key) => config.get(key)),

    check: async (olds: Wire, news: Wire) => {
      const [before, after] = [splitHidden(olds), splitHidden(news)];
      const secrets = secretsOf([before, after]);
      const clean = createRedaction(secrets.values);
      // The engine prints a property's value beside its path, so the path goes into the reason.
      const failure = (path: string, reason: string) => ({
        property: "",
        reason: clean(path ? `${path}: ${reason}` : reason),
      });
      try {
        for (const verb of ["create", "update", "delete"] as const) after.hidden.timeout(verb);
        const { inputs, failures } = lifecycle.check(
          before.visible,
          after.visible,
          after.hidden.defaultName,
          secrets.paths,
        );
        if (after.hidden.urn) checked.add(after.hidden.urn);
        return {
          inputs: { ...toWire(inputs), ...after.hidden.wire },
          failures: failures.map(({ path, reason }) => failure(path, reason)),
        };
      } catch (thrown) {
        return { inputs: news, failures: [failure("", messageOf(thrown))] };
      }
    },

    diff: (id, olds: Wire, news: Wire) => {
      deployed.add(id);
      const [before, after] = [splitHidden(olds), splitHidden(news)];
      return guarded("diff", [after, before], () => {
        const changes = lifecycle
          .diff(before.visible, after.visible)
          .map((change) => ({ ...change, replace: change.replace || after.hidden.replacesOn(change.path) }));
        const { urn } = after.hidden;
        if (urn && checked.delete(urn)) {
          for (const warning of lifecycle.warnings(changes)) host.log.warning(urn, warning);
        }
        return { changes: changes.length > 0, ...replacement(lifecycle, changes, before.visible, after.visible) };
      });
    },

    create: (news: Wire) => {
      const inputs = splitHidden(news);
      return talking("create", [inputs], async (context) => {
        const { id, outputs } = await lifecycle.create(inputs.visible, context);
        return { id: filledId(id), outs: outputsToWire(outputs, inputs.hidden) };
      });
    },

    read: (id, props = {}) => {
      const state = splitHidden(props);
      return talking("read", [state], async (context) => {
        if (!id) throw new Error("there is nothing to read: the id is empty");
        const reading = await lifecycle.read(id, state.visible, context);
        // For a look-up the engine would take an empty answer for an object without properties.
        if (!reading && state.hidden.mustExist) throw new Error(`${lifecycle.kind} "${id}" does not exist`);
        if (!reading) return { id: "", props: {} };
        return {
          id: filledId(reading.id),
          props: outputsToWire(reading.outputs, state.hidden),
          inputs: {
            ...sealed(toWire(reading.inputs), [...secretInputs, ...state.hidden.secrets]),
            ...state.hidden.wire,
          },
        };
      });
    },

    update: (id, olds: Wire, news: Wire) => {
      const [before, after] = [splitHidden(olds), splitHidden(news)];
      return talking("update", [after, before], async (context) => {
        const outputs = await lifecycle.update(id, before.visible, after.visible, context);
        return { outs: outputsToWire(outputs, after.hidden) };
      });
    },

    delete: (id, props: Wire) => {
      const state = splitHidden(props);
      return talking("delete", [state], (context) => lifecycle.delete(id, state.visible, context));
    },
  };
}

let processHost: Host | undefined;

/**
 * What the text in state asks for in the process that the engine starts: the provider of a kind, with the code that is
 * installed now. Old state names it for ever, so it keeps its name and its place, `pulumi-serverless-compute/dynamic`.
 */
export function provider(kind: string): dynamic.ResourceProvider<Wire, Wire> {
  const table: Record<string, Lifecycle | undefined> = kinds;
  const lifecycle = table[kind];
  if (!lifecycle) {
    throw new Error(
      `the installed pulumi-serverless-compute knows no resource "${kind}": install the version that made it, or a later one`,
    );
  }
  if (!processHost) {
    processHost = createHost(() => process.argv[2]);
    obeyEngine(processHost.cancellation, process.argv[2]);
  }
  return createProvider(lifecycle, processHost);
}
