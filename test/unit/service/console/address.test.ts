import { expect, test } from "vitest";
import { maxSearchLength, routeOf } from "../../../../service/console/page/address.mjs";

const endpoint = { view: "endpoint", endpoint: "e1" };
const longText = "x".repeat(maxSearchLength + 1);
const longestText = "x".repeat(maxSearchLength);

test.each([
  ["", { view: "endpoints" }],
  ["#/resources", { view: "resources" }],
  ["#/endpoints/e1", { ...endpoint, filter: {} }],
  ["#/endpoints/e1?state=FAILED&search=a%20b", { ...endpoint, filter: { state: "FAILED", search: "a b" } }],
  // The service would reject these filters, and the page would load forever.
  ["#/endpoints/e1?state=DONE", { ...endpoint, filter: {} }],
  ["#/endpoints/e1?state=constructor", { ...endpoint, filter: {} }],
  ["#/endpoints/e1?state=__proto__", { ...endpoint, filter: {} }],
  [`#/endpoints/e1?search=${longText}`, { ...endpoint, filter: { search: longestText } }],
  [`#/endpoints/e1/jobs/${longText}`, { ...endpoint, filter: { search: longestText }, job: longText }],
  ["#/endpoints/%E0%A4%A", { view: "endpoint", endpoint: "%E0%A4%A", filter: {} }],
])("the address %s is a view that the service accepts", (hash, route) => expect(routeOf(hash)).toEqual(route));
