import { setMaxListeners } from "node:events";
import { type Context, noSecrets } from "../../provider/framework/contract";
import { configNames } from "../../provider/settings/setting-names";

/** A verb's context that reports nothing and is never cancelled. */
export function quietContext({ clients, clock }: Pick<Context, "clients" | "clock">): Context {
  const { signal } = new AbortController();
  // Operations of a test share the signal. In a provider process, each has its own.
  setMaxListeners(0, signal);
  return {
    clients,
    clock,
    signal,
    progress: () => {},
    warn: () => {},
    urn: "",
    owners: new Map(),
    secrets: noSecrets,
    settings: { templateReleaseLimit: 150_000, names: configNames },
  };
}
