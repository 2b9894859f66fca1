import { maxHeaderSize } from "node:http";
import { expect, it } from "vitest";
import * as bundled from "../../../../provider/bundle/http-for-undici";

it("has Node's own bound of a response's headers", () => {
  expect(bundled.maxHeaderSize).toBe(maxHeaderSize);
});
