import type { ServiceOptions } from "serverless-compute-local";
import { onTestFinished } from "vitest";
import { createResources } from "../../../../service/resources";
import type { TemplateChanges } from "../../../../service/resources/template-table";
import { openDatabase } from "../../../../service/store/database";
import { type AtEnd, scratchFolder } from "../../../support/folders";
import { freshName } from "../../../support/local-service";
import { ManualClock } from "../../../support/manual-clock";
import { type RawResponse, stringAt } from "../../../support/raw-http";

/** Creates the resources of an empty store without a service, for one test or, with `afterAll`, for a file. */
export function useResources(
  { stock = {}, templateRelease = 0, workerQuota }: ServiceOptions = {},
  atEnd: AtEnd = onTestFinished,
) {
  const database = openDatabase(scratchFolder(atEnd));
  atEnd(database.close);
  const clock = new ManualClock();
  const open = (quota = workerQuota) =>
    createResources({ database, clock, templateRelease, stock, workerQuota: () => quota });
  const resources = open();
  return {
    ...resources,
    clock,
    /** The resources after a restart of the service, with another quota if set. */
    reopen: open,
    /** Id of a new template. */
    template: (fields: TemplateChanges = {}): string =>
      resources.templates.create({
        name: freshName("template"),
        imageName: "acme/chat:1",
        containerDiskInGb: 5,
        volumeInGb: 0,
        ...fields,
      }).id,
    /** Id of a new network volume in EU-RO-1. */
    volume: (): string => resources.volumes.create({ name: "models", size: 10, dataCenterId: "EU-RO-1" }).id,
  };
}

/** The message of an error response of either API. */
export const messageOf = (response: RawResponse): string =>
  response.text.startsWith('{"data"') ? stringAt(response, "errors", 0, "message") : stringAt(response, "message");
