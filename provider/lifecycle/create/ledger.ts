import type { Clients } from "serverless-compute-api";

/** An object as every list shows it. */
export interface ExistingObject {
  id: string;
  name: string;
}

/** What this process knows of the objects it dealt with: kept per clients, so for as long as one deployment runs. */
export interface Ledger {
  /** The objects of each kind that were there before this process made its first one. */
  before: Map<string, Promise<ExistingObject[]>>;
  /** Ids that a create of this process has answered with. */
  claimed: Set<string>;
  /** Ids of those among them that were there before and were taken over. */
  adopted: Set<string>;
  /** Ids that came with a verb about a deployed object: the state has them. */
  inState: Set<string>;
  /** Creates of the same kind and name run one after the other, so that none takes the other's object for its own. */
  turns: Map<string, Promise<void>>;
}

const perClients = new WeakMap<Clients, Ledger>();

/** The ledger that goes with these clients. */
export function ledgerOf(clients: Clients): Ledger {
  const known = perClients.get(clients);
  if (known) return known;
  const ledger: Ledger = {
    before: new Map(),
    claimed: new Set(),
    adopted: new Set(),
    inState: new Set(),
    turns: new Map(),
  };
  perClients.set(clients, ledger);
  return ledger;
}

/** Runs one piece of work after the other where their key is the same. */
export async function inTurn<Answer>(ledger: Ledger, key: string, work: () => Promise<Answer>): Promise<Answer> {
  const { turns } = ledger;
  const answer = (turns.get(key) ?? Promise.resolve()).then(work);
  const over = answer.then(
    () => undefined,
    () => undefined,
  );
  turns.set(key, over);
  try {
    return await answer;
  } finally {
    if (turns.get(key) === over) turns.delete(key);
  }
}
