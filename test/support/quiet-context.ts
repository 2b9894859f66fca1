import type { Context } from "../../provider/lifecycle/contract";
import { configNames } from "../../provider/lifecycle/setting-names";

/** A verb's context that reports nothing and is never cancelled. */
export const quietContext = ({ clients, clock }: Pick<Context, "clients" | "clock">): Context => ({
  clients,
  clock,
  signal: new AbortController().signal,
  progress: () => {},
  warn: () => {},
  claimedIds: new Map(),
  settings: { templateReleaseLimit: 150_000, names: configNames },
});
