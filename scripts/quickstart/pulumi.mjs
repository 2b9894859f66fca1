import { handOver } from "../child.mjs";
import { root, runScript } from "../entry.mjs";
import { createProgress } from "../progress.mjs";
import { setUp } from "../setup.mjs";
import { findService } from "./local-service.mjs";
import { makePlaces, places, quickstartEnvironment } from "./places.mjs";

/** `npm run pulumi -- <args>`: runs the Pulumi CLI with the quickstart's stack and service. */
await runScript(async () => {
  const progress = createProgress();
  const cli = await setUp({ progress });
  await makePlaces();
  const service = await findService(places.addresses);
  if (service === undefined) {
    progress.say("The local service is not running; start it with `npm run quickstart`.");
  }
  return handOver(cli.command, process.argv.slice(2), { cwd: root, env: quickstartEnvironment(cli, service) });
});
