import { type Context, PartialFailure, type Properties } from "../../../provider/lifecycle/contract";
import { type Kind, kinds } from "../../../provider/resources";
import { autoNaming } from "../../../provider/verbs/urn";
import { dialect } from "../../support/dialect";

/** One resource of a program; a value that is a function reads what other resources of it became. */
export interface Declared {
  name: string;
  kind: Exclude<Kind, "JobInvoke">;
  /** 0 is deployed first; those of one level at the same time. */
  level: number;
  inputs(deployed: (name: string) => { id: string; outputs: Properties }): Properties;
}

/** A resource in state. */
export interface Deployed {
  kind: Declared["kind"];
  level: number;
  id: string;
  outputs: Properties;
  /** Its create or update did not end well: the next deployment updates it, changed or not. */
  unfinished?: boolean;
}

/** State that a deployment keeps between two runs. */
export interface State {
  resources: Map<string, Deployed>;
  /** Replaced objects that are still to be deleted. */
  replaced: Deployed[];
}

/** One run of the engine in its own process, which may be killed at any moment. */
export interface Run {
  context: Context;
  /** True if the process was killed; none of its later results reach the state. */
  killed(): boolean;
}

/** Simulates the engine's deployments with lifecycles: order, state, and results kept after failures. */
export function createDeployment(project = "shop") {
  const state: State = { resources: new Map(), replaced: [] };
  const urns = new Map<string, Declared["kind"]>();

  /** Runs a verb and keeps its result, unless the process was killed. */
  async function step<Answer>(run: Run, verb: Promise<Answer>, keep: (answer: Answer) => void): Promise<void> {
    const answer = await verb;
    if (run.killed()) throw new Error("killed");
    keep(answer);
  }

  async function bring(declared: Declared, run: Run, seen: Context["claimedIds"]): Promise<void> {
    const { name, kind, level } = declared;
    const lifecycle = kinds[kind];
    const old = state.resources.get(name);
    const urn = `urn:pulumi:dev::${project}::serverless-compute:index:${kind}::${name}`;
    urns.set(urn, kind);
    const context: Context = { ...run.context, hasUniqueName: true, claimedIds: seen };
    const written = declared.inputs((other) => {
      const found = state.resources.get(other);
      if (!found) throw new Error(`${other} is not deployed`);
      return found;
    });
    const checked = (olds: Properties): Properties => {
      const { inputs, failures } = lifecycle.check(olds, written, autoNaming(urn), [], dialect);
      if (failures.length > 0) throw new Error(JSON.stringify(failures));
      return inputs;
    };
    const inputs = checked(old?.outputs ?? {});
    if (old) seen.set(old.id, "state");
    const changes = old ? lifecycle.diff(old.outputs, inputs, dialect) : [];
    if (old && changes.length === 0 && !old.unfinished) return;
    try {
      if (old && !changes.some(({ replace }) => replace)) {
        await step(run, lifecycle.update(old.id, old.outputs, inputs, context), (outputs) => {
          state.resources.set(name, { kind, level, id: old.id, outputs });
        });
      } else {
        // A replacement is checked once more, as a new resource.
        await step(run, lifecycle.create(checked({}), context), ({ id, outputs }) => {
          if (old) state.replaced.push(old);
          state.resources.set(name, { kind, level, id, outputs });
        });
      }
    } catch (error) {
      if (error instanceof PartialFailure && !run.killed()) {
        if (old && old.id !== error.id) state.replaced.push(old);
        state.resources.set(name, { kind, level, id: error.id, outputs: error.outputs, unfinished: true });
      }
      throw error;
    }
  }

  async function remove(run: Run, doomed: Deployed, forget: () => void): Promise<void> {
    await step(run, kinds[doomed.kind].delete(doomed.id, doomed.outputs, run.context), forget);
  }

  /** Works through levels, those of one level at the same time; stops after the first level in which anything failed. */
  async function inOrder<Item extends { level: number }>(
    items: Item[],
    order: 1 | -1,
    work: (item: Item) => Promise<void>,
  ) {
    const levels = [...new Set(items.map(({ level }) => level))].sort((a, b) => order * (a - b));
    for (const level of levels) {
      const results = await Promise.allSettled(items.filter((one) => one.level === level).map(work));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    }
  }

  /** Deletes replaced and removed objects; dependents first. */
  function removeAllBut(run: Run, kept: ReadonlySet<string>): Promise<void> {
    const replaced = state.replaced.map((one) => ({
      one,
      level: one.level,
      forget: () => {
        state.replaced = state.replaced.filter((other) => other !== one);
      },
    }));
    const removed = [...state.resources]
      .filter(([name]) => !kept.has(name))
      .map(([name, one]) => ({ one, level: one.level, forget: () => void state.resources.delete(name) }));
    return inOrder([...replaced, ...removed], -1, ({ one, forget }) => remove(run, one, forget));
  }

  return {
    state,
    /** URNs of all resources that were ever in the program, with their kinds. */
    urns,
    async up(program: Declared[], run: Run): Promise<void> {
      const seen: Context["claimedIds"] = new Map([...state.resources.values()].map(({ id }) => [id, "state"]));
      await inOrder(program, 1, (declared) => bring(declared, run, seen));
      await removeAllBut(run, new Set(program.map(({ name }) => name)));
    },
    async refresh(run: Run): Promise<void> {
      await Promise.all(
        [...state.resources].map(([name, old]) =>
          step(run, kinds[old.kind].read(old.id, old.outputs, run.context), (reading) => {
            if (reading) state.resources.set(name, { ...old, outputs: reading.outputs });
            else state.resources.delete(name);
          }),
        ),
      );
    },
    async destroy(run: Run): Promise<void> {
      await removeAllBut(run, new Set());
    },
  };
}

export type Deployment = ReturnType<typeof createDeployment>;
