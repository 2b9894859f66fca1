import type { FastifyInstance } from "fastify";
import type { Resources } from "../../resources";
import { registerControllers, type V1Options, v1Controllers } from "./controllers";
import { registerUnsupportedKind } from "./unsupported-kinds";

/** Registers the REST management API (interface: REST management API) under its version prefix. */
export function registerRestV1Routes(app: FastifyInstance, resources: Resources, options: V1Options): void {
  // The local service is free.
  for (const kind of ["endpoints", "networkvolumes", "pods"]) app.get(`/billing/${kind}`, async () => []);
  registerUnsupportedKind(app, "pod", []);
  registerControllers(app, "v1", v1Controllers(resources, options));
}
