import { z } from "zod";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { json, withoutNulls } from "./table";

/** The only account of a local service. */
export const account = { id: "local", email: "local@127.0.0.1" } as const;

const settings = z.object({
  pubKey: z.string().default(""),
  notifyPodsStale: z.boolean().default(false),
  notifyPodsGeneral: z.boolean().default(false),
  notifyLowBalance: z.boolean().default(false),
});
/** Account settings, which are stored and returned but otherwise have no effect. */
export type AccountSettings = z.output<typeof settings>;

export function openAccountSettings(database: Database) {
  const stored = database.query("SELECT content FROM account_settings", z.object({ content: json(settings) }));
  const clear = database.prepare("DELETE FROM account_settings");
  const insert = database.prepare("INSERT INTO account_settings (content) VALUES (?)");
  const get = (): AccountSettings => stored.get()?.content ?? settings.parse({});
  return {
    get,
    /** Null keeps a setting unchanged. */
    update: (changes: object): AccountSettings =>
      database.transaction(() => {
        const next = parseInput(settings, { ...get(), ...withoutNulls(changes) });
        clear.run();
        insert.run(JSON.stringify(next));
        return next;
      }),
  };
}
