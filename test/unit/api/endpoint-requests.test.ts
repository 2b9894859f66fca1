import { expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const localhost = "http://127.0.0.1";
const wrongPath = (path: string): string => `the path is ${JSON.stringify(path)}; must begin with a slash`;
const wrongAddress = (address: string): string => `the endpoint's address ${JSON.stringify(address)} is not a URL`;

test.each([
  // Such a path could change the host.
  ...["@evil.example/x", "evil.example", "", ".evil.example/x"].map((path) => [localhost, path, wrongPath(path)]),
  ...["", "endpoint.example", "https://"].map((address) => [address, "/x", wrongAddress(address)]),
  // It would expose the key.
  ["http://endpoint.example", "/x", "http://endpoint.example is not encrypted"],
  ["http://127.0.0.1.endpoint.example", "/x", "http://127.0.0.1.endpoint.example is not encrypted"],
  ["http://me:pw@endpoint.example?token=x", "/x", "address http://endpoint.example is not encrypted"],
])("a request to an endpoint at %j with the path %j is rejected: %s", async (address, path, message) => {
  const { clients, failure, origin, requests } = await startRig([json({})]);
  const target = address === localhost ? origin : address;
  const error = await failure(clients.requests.send(target, { method: "GET", path }));
  expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", retryable: false });
  expect(error.message).toContain(message);
  expect(requests).toEqual([]);
});
