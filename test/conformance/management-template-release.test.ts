import { systemClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { askUntil, at, expectAnswer, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";

const release = 1500;
const target = await useTarget({ templateRelease: release, clock: systemClock });
const account = useAccount(target);

test("deleteTemplate with the setting templateRelease: 1.5 s deletes that long after the last use, in real time", async (context) => {
  target.localOnly(context, "the length of the release is a setting of the local service");
  const name = uniqueName("template");
  const templateId = await account.template({ name });
  const endpointId = await account.endpoint({ templateId });
  const deleteTemplate = () => account.graphql(`mutation { deleteTemplate(templateName: "${name}") }`);
  expect(stringAt(await deleteTemplate(), "errors", 0, "message")).toContain("in use");

  const letGo = Date.now();
  expectAnswer(await account.rest("DELETE", `/endpoints/${endpointId}`), 204);
  const refused = await deleteTemplate();
  expect(stringAt(refused, "errors", 0, "message")).toContain("in use");
  await askUntil(deleteTemplate, ({ json }) => at(json, "errors") === undefined);
  expect(Date.now() - letGo).toBeGreaterThanOrEqual(release - 50);
  expectAnswer(await account.rest("GET", `/templates/${templateId}`), 404);
});
