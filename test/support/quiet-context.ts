import type { Context } from "../../provider/framework/contract";
import { configNames } from "../../provider/settings/setting-names";

/** A verb's context that reports nothing and is never cancelled. */
export const quietContext = ({ clients, clock }: Pick<Context, "clients" | "clock">): Context => ({
  clients,
  clock,
  signal: new AbortController().signal,
  progress: () => {},
  warn: () => {},
  ownedIds: new Map(),
  settings: { templateReleaseLimit: 150_000, names: configNames },
});
