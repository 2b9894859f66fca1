import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { account } from "../../resources/account";
import type { DelegationRow, Delegations } from "../../resources/delegations";
import { parseV2 } from "../../validation";
import { isoTime } from "../responses";

const create = z.strictObject({ resource: z.string(), name: z.string().nullish() });

const delegationRecord = ({ createdAt, ...delegation }: DelegationRow) => ({
  ...delegation,
  delegatorUserId: account.id,
  createdAt: isoTime(createdAt),
});

/** Routes for registry delegations in REST v2: list, create, delete. */
export function registerDelegationRoutes(app: FastifyInstance, delegations: Delegations): void {
  const path = "/registries/delegations";
  app.get(path, async () => ({ delegations: delegations.list().map(delegationRecord) }));
  app.post(path, async ({ body }, reply) => {
    const delegation = delegations.create(parseV2(create, body));
    return reply.status(201).send(delegationRecord(delegation));
  });
  app.delete<{ Params: { id: string } }>(`${path}/:id`, async ({ params }, reply) => {
    delegations.remove(params.id);
    return reply.status(204).send();
  });
}
