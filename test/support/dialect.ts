import type { Dialect } from "serverless-compute-api";

/**
 * Dialect of the provider's suites. The projects whose names end in -v2 run the same files again with this variable
 * set.
 */
export const dialect: Dialect = process.env["TEST_DIALECT"] === "v2" ? "v2" : "v1";

/**
 * True if recording proxies remove response fields that the contracts do not describe: with TEST_RESPONSES=stripped in the
 * environment, for any suite and dialect.
 */
export const stripsResponses = process.env["TEST_RESPONSES"] === "stripped";

/** Paths of the dialect's collections. */
export const restPaths = {
  v1: { root: "/v1", endpoints: "/v1/endpoints", volumes: "/v1/networkvolumes" },
  v2: { root: "/v2", endpoints: "/v2/serverless", volumes: "/v2/network-volumes" },
}[dialect];

/** The request that changes a secret's value. */
export const secretValueUpdate = {
  v1: { body: /secretValueUpdate/ },
  v2: { method: "PATCH", path: /^\/v2\/account\/secrets\//, body: /"value"/ },
}[dialect];

/** A change of a template that does not change its revision. */
export const changeWithoutRevision = { v1: { readme: "of the worker" }, v2: { startSsh: false } }[dialect];
