import { z } from "zod";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { json, withoutNulls } from "./table";

/** The only account of a local service. */
export const account = { id: "local", email: "local@127.0.0.1" } as const;

/** Account settings, which are stored and returned but otherwise have no effect. */
export const accountSettings = z.object({
  pubKey: z.string().default(""),
  notifyPodsStale: z.boolean().default(false),
  notifyPodsGeneral: z.boolean().default(false),
  notifyLowBalance: z.boolean().default(false),
});
export type AccountSettings = z.output<typeof accountSettings>;

export function openAccountSettings(database: Database) {
  const stored = database.query("SELECT content FROM account_settings", z.object({ content: json(accountSettings) }));
  const clear = database.prepare("DELETE FROM account_settings");
  const insert = database.prepare("INSERT INTO account_settings (content) VALUES (?)");
  const get = (): AccountSettings => stored.get()?.content ?? accountSettings.parse({});
  return {
    get,
    /** Null keeps a setting unchanged. */
    update: (changes: object): AccountSettings =>
      database.transaction(() => {
        const next = parseInput(accountSettings, { ...get(), ...withoutNulls(changes) });
        clear.run();
        insert.run(JSON.stringify(next));
        return next;
      }),
  };
}
