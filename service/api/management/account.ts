import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Resources } from "../../resources";
import { type AccountSettings, account } from "../../resources/account";
import { parseV2 } from "../../validation";

const sshKey = z.string().regex(/^(ssh|ecdsa|sk)-\S+ \S+([ \t][^\n\r]*)?$/, "a line such as ssh-ed25519 AAAA… comment");
const sshKeysChange = z.strictObject({ keys: z.array(sshKey) });

/** The SSH keys of REST v2, which are the lines of `pubKey` in GraphQL. */
const sshKeys = ({ pubKey }: AccountSettings) => ({ keys: pubKey.split("\n").filter((line) => line.trim() !== "") });

/** The account as returned by GraphQL, without costs. */
export const graphqlAccount = (settings: AccountSettings) => ({
  ...account,
  ...settings,
  clientBalance: 0,
  currentSpendPerHr: 0,
  spendLimit: 0,
});

/** Routes for the account's SSH keys, which have no effect, and its limits. */
export function registerAccountRoutes(
  app: FastifyInstance,
  { accountSettings, endpoints }: Pick<Resources, "accountSettings" | "endpoints">,
): void {
  app.get("/account/ssh-keys", async () => sshKeys(accountSettings.get()));
  app.put("/account/ssh-keys", async ({ body }) => {
    const { keys } = parseV2(sshKeysChange, body);
    return sshKeys(accountSettings.update({ pubKey: keys.join("\n") }));
  });
  // The reference documents no fields for these limits; the names are specific to this service.
  app.get("/account/limits", async () => {
    const { limit = null, used } = endpoints.quota();
    return { spendRate: {}, serverlessWorkers: { limit, used } };
  });
}
