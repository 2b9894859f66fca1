import type { Properties } from "../../../provider/engine/values";
import type { Context } from "../../../provider/framework/contract";
import { ResourceInitError } from "../../../provider/framework/errors";
import { addOwner, type Owners, removeOwner } from "../../../provider/framework/owners";
import { autoNaming } from "../../../provider/framework/urn";
import { type Kind, kinds } from "../../../provider/resources";
import { dialect } from "../../support/dialect";

/** A resource of a program; a value that is a function reads the deployed resources. */
export interface Declared {
  name: string;
  kind: Exclude<Kind, "JobInvoke">;
  /** Level 0 is deployed first; resources of one level are deployed concurrently. */
  level: number;
  inputs(deployed: (name: string) => { id: string; outputs: Properties }): Properties;
}

/** A resource in state. */
export interface Deployed {
  name: string;
  kind: Declared["kind"];
  level: number;
  id: string;
  outputs: Properties;
  /** True if its create or update failed; the next deployment updates it even without a change. */
  unfinished?: boolean;
}

/** State that a deployment keeps between two runs. */
export interface State {
  resources: Map<string, Deployed>;
  /** Replaced objects with a pending delete. */
  replaced: Deployed[];
}

/** A run of the engine in its own process, which may be killed at any moment. */
export interface Run {
  context: Context;
  /** True if the process was killed; none of its later results reach the state. */
  killed(): boolean;
}

/** Options of `pulumi up`. */
export interface UpOptions {
  /** Names of the only resources to update and to delete. */
  targets?: readonly string[];
  /** After a failure, deploys what does not depend on the failed resource, and deletes what the program no longer has. */
  continueOnError?: boolean;
}

/** Simulates the engine's deployments with lifecycles: order, state, and results kept after failures. */
export function createDeployment(project = "shop") {
  const state: State = { resources: new Map(), replaced: [] };
  const urns = new Map<string, Declared["kind"]>();

  /** Runs a verb and stores its result unless the process was killed. */
  async function step<Result>(run: Run, verb: Promise<Result>, store: (result: Result) => void): Promise<void> {
    const result = await verb;
    if (run.killed()) throw new Error("killed");
    store(result);
  }

  async function deploy(declared: Declared, run: Run, owners: Owners): Promise<void> {
    const { name, kind, level } = declared;
    const lifecycle = kinds[kind];
    const old = state.resources.get(name);
    const urn = `urn:pulumi:dev::${project}::serverless-compute:index:${kind}::${name}`;
    urns.set(urn, kind);
    const programInputs = declared.inputs((otherName) => {
      const other = state.resources.get(otherName);
      if (!other) throw new Error(`${otherName} is not deployed`);
      return other;
    });
    const check = (olds: Properties): { inputs: Properties; context: Context } => {
      const { inputs, failures } = lifecycle.check(olds, programInputs, autoNaming(urn), [], dialect);
      if (failures.length > 0) throw new Error(JSON.stringify(failures));
      return { inputs, context: { ...run.context, owners, urn } };
    };
    const { inputs, context } = check(old?.outputs ?? {});
    if (old) addOwner(owners, old.id, urn);
    const changes = old ? lifecycle.diff(old.outputs, inputs, dialect) : [];
    if (old && changes.length === 0 && !old.unfinished) return;
    try {
      if (old && !changes.some(({ replace }) => replace)) {
        await step(run, lifecycle.update(old.id, old.outputs, inputs, context), (outputs) => {
          state.resources.set(name, { name, kind, level, id: old.id, outputs });
        });
      } else {
        // A replacement is checked again as a new resource.
        const { inputs: created, context: createContext } = check({});
        removeOwner(owners, urn);
        await step(run, lifecycle.create(created, createContext), ({ id, outputs }) => {
          if (old) state.replaced.push(old);
          state.resources.set(name, { name, kind, level, id, outputs });
        });
      }
    } catch (error) {
      if (error instanceof ResourceInitError && !run.killed()) {
        if (old && old.id !== error.id) state.replaced.push(old);
        state.resources.set(name, { name, kind, level, id: error.id, outputs: error.outputs, unfinished: true });
      }
      throw error;
    }
  }

  async function remove(run: Run, object: Deployed, removeFromState: () => void): Promise<void> {
    await step(run, kinds[object.kind].delete(object.id, object.outputs, run.context), removeFromState);
  }

  /** Runs the levels in order, each concurrently, and stops after the first level with a failure. */
  async function runByLevel<Item extends { level: number }>(
    items: Item[],
    direction: 1 | -1,
    work: (item: Item) => Promise<void>,
  ) {
    const levels = [...new Set(items.map(({ level }) => level))].sort((a, b) => direction * (a - b));
    for (const level of levels) {
      const results = await Promise.allSettled(items.filter((resource) => resource.level === level).map(work));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    }
  }

  /** Deletes replaced and removed objects among the targets; dependents first. */
  function removeAllExcept(run: Run, keptNames: ReadonlySet<string>, targets?: readonly string[]): Promise<void> {
    const replaced = state.replaced.map((resource) => ({
      resource,
      level: resource.level,
      removeFromState: () => {
        state.replaced = state.replaced.filter((entry) => entry !== resource);
      },
    }));
    const removed = [...state.resources]
      .filter(([name]) => !keptNames.has(name))
      .map(([name, resource]) => ({
        resource,
        level: resource.level,
        removeFromState: () => void state.resources.delete(name),
      }));
    const items = [...replaced, ...removed].filter(({ resource }) => targets?.includes(resource.name) ?? true);
    return runByLevel(items, -1, ({ resource, removeFromState }) => remove(run, resource, removeFromState));
  }

  return {
    state,
    /** URNs of all resources of the program so far, with their kinds. */
    urns,
    async up(program: Declared[], run: Run, { targets, continueOnError = false }: UpOptions = {}): Promise<void> {
      const owners: Owners = new Map();
      const selected = program.filter(({ name }) => targets?.includes(name) ?? true);
      const remaining = () => removeAllExcept(run, new Set(program.map(({ name }) => name)), targets);
      try {
        await runByLevel(selected, 1, (declared) => deploy(declared, run, owners));
      } catch (error) {
        if (!continueOnError || run.killed() || run.context.signal.aborted) throw error;
        const errors = await Promise.allSettled([remaining()]);
        const messages = [error, ...errors.flatMap((result) => (result.status === "rejected" ? [result.reason] : []))];
        throw new Error(messages.map((one) => (one instanceof Error ? one.message : String(one))).join("\n"));
      }
      await remaining();
    },
    /** Adds an existing object to the state, as `pulumi import` does. */
    async import({ name, kind, level }: Omit<Declared, "inputs">, id: string, run: Run): Promise<void> {
      await step(run, kinds[kind].read(id, {}, run.context), (readResult) => {
        if (!readResult) throw new Error(`${kind} ${id} does not exist`);
        state.resources.set(name, { name, kind, level, id, outputs: readResult.outputs });
      });
    },
    async refresh(run: Run): Promise<void> {
      await Promise.all(
        [...state.resources].map(([name, old]) =>
          step(run, kinds[old.kind].read(old.id, old.outputs, run.context), (readResult) => {
            if (readResult) state.resources.set(name, { ...old, outputs: readResult.outputs });
            else state.resources.delete(name);
          }),
        ),
      );
    },
    async destroy(run: Run): Promise<void> {
      await removeAllExcept(run, new Set());
    },
  };
}

export type Deployment = ReturnType<typeof createDeployment>;
