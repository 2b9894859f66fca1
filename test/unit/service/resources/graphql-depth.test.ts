import { expect, test } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { expectResponse, send, stringAt } from "../../../support/raw-http";

test("a GraphQL query nested far too deep returns 400", async () => {
  const { service } = await useLocalService();
  const json = { query: "{ myself ".repeat(20_000) };
  const response = await send("POST", service.graphqlUrl, { key: service.apiKey, json });
  expectResponse(response, 400, { data: null, errors: [{ extensions: { code: "invalid" } }] });
  // The parser exceeds the stack or counts the tokens first, which depends on whether it has been optimized.
  expect(stringAt(response, "errors", 0, "message")).toMatch(/^query: is nested too deeply$|more that 10000 tokens/);
});
