import { classifyFault, classifyResponse } from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { describe, expect, test } from "vitest";
import { toMessage } from "../../../api/response";

const get = { method: "GET", url: "http://127.0.0.1/v1/endpoints/x" };
const remove = { method: "DELETE", url: "http://127.0.0.1/v1/endpoints/x" };
const create = { method: "POST", url: "http://127.0.0.1/v1/endpoints" };
const change = { method: "PATCH", url: "http://127.0.0.1/v2/serverless/x" };
const workers = { method: "GET", url: "http://127.0.0.1/v2/serverless/v1x/workers" };
const graphql = { method: "POST", url: "http://127.0.0.1/graphql", operation: "deleteTemplate" };

describe("a service's error", () => {
  test.each([
    [get, 400, "workersMin: 9 is not allowed", "invalid", "invalid_request"],
    [get, 401, "", "auth", "unauthorized"],
    [get, 403, "", "auth", "forbidden"],
    [get, 404, "", "missing", "not_found"],
    [get, 408, "", "timeout", "request_timeout"],
    [get, 409, "", "conflict", "conflict"],
    [get, 410, "", "retired", "rest_v1_retired"],
    [get, 410, 'endpoint "x" not found', "retired", "rest_v1_retired"],
    [graphql, 410, "", "retired", "graphql_retired"],
    [workers, 410, "", "retired", "address_retired"],
    [get, 413, "", "invalid", "too_large"],
    [get, 418, "", "invalid", "invalid_request"],
    [get, 429, "", "throttled", "rate_limited"],
    [get, 500, "", "server", "server_error"],
    [get, 501, "", "invalid", "not_supported"],
    [get, 503, "", "throttled", "unavailable"],
    [get, 522, "", "server", "server_error"],
    [get, 308, "", "invalid", "wrong_address"],
    // Web servers and the local service report a path that they do not have.
    [get, 404, "Cannot GET /v3/endpoints/x", "invalid", "wrong_address"],
    [remove, 404, "Route DELETE:/v3/endpoints/x not found", "invalid", "wrong_address"],
    [remove, 404, "route DELETE /v3/endpoints/x not found", "invalid", "wrong_address"],
    [remove, 404, "resource not found: route DELETE /v2/v2/serverless/x not found", "invalid", "wrong_address"],
    [workers, 404, "404 page not found", "invalid", "wrong_address"],
    [remove, 404, "cannot delete endpoint x, which does not exist", "missing", "not_found"],
    [remove, 404, 'resource not found: endpoint "route GET /x" not found', "missing", "not_found"],
    // The status takes precedence over a text that resembles another error.
    [get, 500, "database row not found", "server", "server_error"],
    [remove, 400, "something else is wrong", "invalid", "invalid_request"],
    [remove, 400, 'network volume "v" is in use by endpoint "chat" (abc)', "inUse", "in_use"],
    [create, 400, 'networkVolumeId: network volume "v" does not exist', "invalid", "reference_not_found"],
    [create, 400, "workersMax must be greater than 0", "invalid", "invalid_request"],
    [create, 404, "template not found", "invalid", "template_not_found"],
    // A missing endpoint is 404; the text of another status is about a value of the body.
    [change, 404, "resource not found", "missing", "not_found"],
    [change, 422, "image acme/chat:9 not found in its registry", "invalid", "reference_not_found"],
    // The text of a registry; only the status of a REST response shows a rejected key or a rate limit of the service.
    [
      change,
      422,
      "image: unauthorized: access to the requested resource is not authorized",
      "invalid",
      "invalid_request",
    ],
    [change, 422, "image: toomanyrequests: you have reached your pull rate limit", "invalid", "invalid_request"],
    [change, 422, "image: pull rate limit exceeded", "invalid", "invalid_request"],
    [change, 400, "network volume v1 does not exist", "invalid", "reference_not_found"],
    [graphql, 200, 'template "x" not found', "missing", "not_found"],
    [graphql, 200, "Template is being used by a pod", "inUse", "in_use"],
    [graphql, 200, "endpoint template names must be unique", "conflict", "duplicate_name"],
    [graphql, 200, 'containerRegistryAuthId: registry auth "x" does not exist', "invalid", "reference_not_found"],
    [graphql, 200, "Unauthorized request", "auth", "unauthorized"],
    [graphql, 200, 'Variable "$input" got invalid value; Field "name" was not provided.', "invalid", "invalid_request"],
    [graphql, 200, "you exceeded your quota", "invalid", "quota"],
    [graphql, 200, "Your worker concurrency cannot go beyond the maximum limit of (20).", "invalid", "quota"],
    // Names chosen by users do not affect the category.
    [graphql, 200, 'template "does not exist" is in use by endpoint "must be unique" (abc)', "inUse", "in_use"],
    [remove, 400, 'endpoint "scale to 0" is odd', "invalid", "invalid_request"],
  ] as const)("for %j with %i %j is %s", (request, status, text, category, code) => {
    const error = classifyResponse({ status, text }, request);
    expect(error).toMatchObject({ category, code, status });
    if (category === "retired") expect(error).toMatchObject({ retryable: false, ambiguous: false });
    expect(error.message).not.toBe("");
  });

  test("without a text contains its status", () => {
    expect(classifyResponse({ status: 502, text: "" }, get).message).toBe("HTTP 502 Bad Gateway");
  });
});

describe("a connection fault", () => {
  const fault = (code: string) => Object.assign(new Error("broken"), { code });

  test.each([
    ["ECONNREFUSED", "connection_refused", true],
    ["ENOTFOUND", "unknown_host", true],
    ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout", true],
    ["ECONNRESET", "connection_failed", true],
    ["CERT_HAS_EXPIRED", "tls", false],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls", false],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls", false],
  ])("%s before the request is sent is not ambiguous", (code, expectedCode, retryable) => {
    expect(classifyFault(fault(code), get, false)).toMatchObject({ code: expectedCode, retryable, ambiguous: false });
  });

  test.each(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])("%s after the request is sent is a lost response", (code) => {
    const error = classifyFault(fault(code), get, true);
    expect(error).toMatchObject({ category: "network", code: "connection_lost", retryable: true, ambiguous: true });
  });

  test("is found in the causes of other errors", () => {
    const wrapped = new Error("fetch failed", { cause: new AggregateError([fault("ECONNREFUSED")]) });
    expect(classifyFault(wrapped, get, false).code).toBe("connection_refused");
  });
});

describe("the message of a long text", () => {
  const secret = "sck_TOPSECRET_0123456789";
  const redact = createRedaction([secret]);

  test("requires only the redaction of its beginning, which takes half a second per MB", () => {
    const lengths: number[] = [];
    const record = (text: string): string => {
      lengths.push(text.length);
      return text;
    };
    expect(toMessage("x ".repeat(5_000_000), record)).toHaveLength(500);
    expect(lengths).toEqual([65_536]);
  });

  test("has no beginning of a secret where the text is truncated", () => {
    for (let offset = 0; offset < secret.length; offset++) {
      const repeated = `${"y".repeat(offset)}${secret.repeat(3000)}`;
      expect(toMessage(repeated, redact)).not.toContain("sck_");
    }
  });

  test("has no control characters, which could change the terminal", () => {
    expect(toMessage("\u001b[31mred\u001b[0m\u0007\tone\ntwo\u009b", redact)).toBe("?[31mred?[0m?\tone\ntwo?");
  });
});
