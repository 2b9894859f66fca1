import type { FastifyInstance } from "fastify";
import { notFound, ServiceError } from "../../errors";

/** Rejects the creation of a pod. */
export function rejectPod(): never {
  throw new ServiceError("unsupported", "pods: cannot be created; this service runs serverless endpoints only");
}

/** Registers the paths of pods, which this service does not support. `list` is the body of the empty list. */
export function registerPodRoutes(app: FastifyInstance, list: object): void {
  app.get("/pods", async () => list);
  app.post("/pods", async () => rejectPod());
  app.route<{ Params: { id: string } }>({
    method: ["GET", "PATCH", "DELETE"],
    url: "/pods/:id",
    handler: async ({ params }) => {
      throw notFound("pod", params.id);
    },
  });
}
