import type { FastifyReply, FastifyRequest } from "fastify";
import type { LimitedOperation } from "serverless-compute-api/shapes";
import { notFound, ServiceError } from "../errors";
import type { EndpointRow } from "../resources/endpoint-table";
import type { Auth } from "./auth";
import type { RateLimits } from "./rate-limits";

/** Route options that check a call of the job API before its body is read; `operation` selects the rate limit. */
export type Admission = (operation?: LimitedOperation) => {
  onRequest(
    request: FastifyRequest<{ Params: { endpointId: string } }>,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): void;
};

/** Checks key, endpoint and rate limit of each call, in this order. `typeOf` is undefined if the endpoint does not exist. */
export const createAdmission =
  (
    { checkJobs }: Pick<Auth, "checkJobs">,
    typeOf: (endpointId: string) => EndpointRow["type"] | undefined,
    rateLimits: RateLimits,
  ): Admission =>
  (operation) => ({
    onRequest(request, reply, done) {
      const { endpointId } = request.params;
      checkJobs(request);
      const type = typeOf(endpointId);
      if (type === undefined) throw notFound("endpoint", endpointId);
      if (type === "LB")
        throw new ServiceError(
          "unsupported",
          `endpoint "${endpointId}" is a load balancer: it has no queue and accepts no jobs`,
        );
      if (operation) rateLimits.admit(endpointId, operation, reply);
      done();
    },
  });
