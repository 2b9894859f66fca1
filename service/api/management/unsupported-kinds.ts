import type { FastifyInstance } from "fastify";
import { notFound, ServiceError } from "../../errors";

/** Kinds of objects that this service does not have: paths, and the methods of an object in addition to GET and DELETE. */
const kinds = {
  pod: { path: "pods", otherMethods: ["PATCH"] },
  "global volume": { path: "global-volumes", otherMethods: [] },
} as const;
type Kind = keyof typeof kinds;

/** Rejects the creation of an object of such a kind. */
export function rejectCreate(kind: Kind): never {
  throw new ServiceError("unsupported", `${kind}s: cannot be created; this service runs serverless endpoints only`);
}

/** Registers the paths of such a kind. `list` is the body of the empty list. */
export function registerUnsupportedKind(app: FastifyInstance, kind: Kind, list: object): void {
  const { path, otherMethods } = kinds[kind];
  app.get(`/${path}`, async () => list);
  app.post(`/${path}`, async () => rejectCreate(kind));
  app.route<{ Params: { id: string } }>({
    method: ["GET", "DELETE", ...otherMethods],
    url: `/${path}/:id`,
    handler: async ({ params }) => {
      throw notFound(kind, params.id);
    },
  });
}
