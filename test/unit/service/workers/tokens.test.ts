import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { createWorkerTokens } from "../../../../service/workers/tokens";
import { scratchFolder } from "../../../support/folders";
import { lockStore } from "../store/support/sqlite-file";

test("an external worker that calls while the store is locked is recorded at its next call", () => {
  const folder = scratchFolder();
  const database = openDatabase(folder);
  onTestFinished(database.close);
  const tokens = createWorkerTokens(database);
  tokens.tokenOf("endpoint");
  const unlock = lockStore(folder);
  expect(() => tokens.recordExternalUse("endpoint")).toThrow(/store is locked/);
  unlock();
  tokens.recordExternalUse("endpoint");
  // The tokens of the next start of the service.
  expect(createWorkerTokens(database).isUsedExternally("endpoint")).toBe(true);
});
