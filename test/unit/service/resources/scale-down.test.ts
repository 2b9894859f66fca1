import { expect, test } from "vitest";
import { useSharedService } from "../../../support/local-service";
import { expectResponse } from "../../../support/raw-http";
import { messageOf } from "./resources-rig";

const rig = await useSharedService({ deleteNeedsScaleDown: true });

test("with deleteNeedsScaleDown REST v1 and GraphQL delete an endpoint only after workersMin and workersMax are 0", async () => {
  const id = await rig.endpoint({ workersMax: 1 });
  const rejection = await rig.rest("DELETE", `/endpoints/${id}`);
  expectResponse(rejection, 400);
  expect(messageOf(await rig.graphql(`mutation { deleteEndpoint(id: "${id}") }`))).toBe(messageOf(rejection));
  expect(messageOf(rejection)).toContain("set workersMin and workersMax to 0 before");
  expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, { workersMin: 0, workersMax: 0 }), 200);
  expectResponse(await rig.rest("DELETE", `/endpoints/${id}`), 204);
});
