import { ApiError } from "serverless-compute-api";
import { expect, test } from "vitest";
import { messageOf } from "../../../../provider/engine/error-text";
import { uncertaintyOf } from "../../../../provider/framework/create/create-once";
import { explain, lostCreateAdvice } from "../../../../provider/framework/messages";
import { configNames } from "../../../../provider/settings/setting-names";

const unreadable = (id: string | undefined, name: string | undefined) => ({
  id,
  name,
  error: new ApiError('"size" is not a number', {
    category: "server",
    code: "unexpected_response",
    retryable: false,
    ambiguous: false,
    request: { method: "GET", url: "http://127.0.0.1/v2/network-volumes" },
  }),
});
const listing = (...elements: ReturnType<typeof unreadable>[]) => ({
  objects: [{ id: "v1" }],
  unreadable: elements,
  mayBeCapped: false,
});
const unreadableReason = 'The service lists an unreadable object that may be the created one: "size" is not a number.';

test.each([
  ["has the name of the create", unreadable("v2", "data"), unreadableReason],
  ["has no readable name", unreadable("v2", undefined), unreadableReason],
  ["has neither id nor name", unreadable(undefined, undefined), unreadableReason],
  ["has another name", unreadable("v2", "other"), undefined],
  ["existed before the create", unreadable("v0", "data"), undefined],
])(
  "a list proves that an object does not exist, unless it may be an unreadable element: an element that %s",
  (_which, element, reason) => {
    expect(uncertaintyOf(listing(element), "data", new Set(["v0"]))).toBe(reason);
  },
);

test("a list that may be capped proves nothing, and its reason counts unreadable elements", () => {
  const capped = { ...listing(unreadable("v2", "other")), mayBeCapped: true };
  expect(uncertaintyOf(capped, "data")).toBe("The service lists 2 objects of this kind and may have more.");
});

test.each([
  ["an error", new Error("refused"), "refused"],
  ["an error without a message", new TypeError(), "TypeError"],
  ["several errors", new AggregateError([new Error("refused"), "reset"]), "refused\nreset"],
  ["several errors with a message", new AggregateError([new Error("refused")], "both failed"), "both failed"],
  ["a text", "refused", "refused"],
  ["an empty text", "", "unknown error"],
  ["null", null, "unknown error"],
])("the message of a thrown value: %s", (_value, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each([
  ["create", true, true],
  ["create", false, false],
  ["update", true, false],
  ["delete", true, false],
] as const)(
  "the message of a failed %s (ambiguous: %s) advises to look for a lost object: %s",
  (operation, ambiguous, advises) => {
    const request = { method: "POST", url: "http://127.0.0.1/v2/templates" };
    const error = new ApiError("no response", {
      category: "timeout",
      code: "timeout",
      retryable: false,
      ambiguous,
      request,
    });
    const message = explain(error, { label: "Template", operation, names: configNames });
    expect(message).toBe(
      `Template: http://127.0.0.1 did not respond in time (no response). Try again.${advises ? lostCreateAdvice : ""}`,
    );
  },
);
