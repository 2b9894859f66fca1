import { findEndpoint } from "serverless-compute-api/job-commands";
import { expect, test } from "vitest";

const endpoints = [
  { id: "e1", name: "chat-dev-71e8d46" },
  { id: "e2", name: "chat" },
  { id: "e3", name: "embed-dev-0a1b2c3" },
  { id: "e4", name: "embed-prod-9f8e7d6" },
  { id: "e5", name: "image-dev-5555555" },
  { id: "e6", name: "e1" },
  { id: "e7", name: "voice -fb" },
];

test.each([
  ["an id, also if another endpoint has it as its name", "e1", "e1"],
  ["a name, also if another name begins with it", "chat", "e2"],
  ["a name without the suffix of the service", "voice", "e7"],
  ["the beginning of a name before the suffixes of Pulumi", "image", "e5"],
  ["a longer beginning that is unique", "embed-prod", "e4"],
])("finds an endpoint by %s", (_what, word, id) => expect(findEndpoint(word, endpoints).id).toBe(id));

test.each([
  [
    "embed",
    'several endpoints have a name that begins with "embed": "embed-dev-0a1b2c3" (e3), "embed-prod-9f8e7d6" (e4); pass the id',
  ],
  ["imag", 'no endpoint has the id or name "imag"; '],
  ["", 'no endpoint has the id or name ""; '],
])("%j is an error that lists the possible endpoints", (word, message) => {
  expect(() => findEndpoint(word, endpoints)).toThrow(message);
});

test("several endpoints of one name need their ids", () => {
  const twins = [
    { id: "a", name: "twin" },
    { id: "b", name: "twin" },
  ];
  expect(() => findEndpoint("twin", twins)).toThrow(
    'several endpoints have the name "twin": "twin" (a), "twin" (b); pass the id',
  );
});
