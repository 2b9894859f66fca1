import { createService } from "serverless-compute-local";
import { acceleratedClock } from "../../support/accelerated-clock";

/** A service in its own, killable process. Arguments: data folder, handler file, start and speed of the clock. */
const [dataFolder = "", handler = "", since = "", times = ""] = process.argv.slice(2);

createService({
  port: 0,
  dataFolder,
  images: { versioned: handler },
  clock: acceleratedClock(Number(times), Number(since)),
  templateRelease: 2000,
  deleteNeedsScaleDown: true,
  rateLimits: "off",
  logLevel: "info",
}).then(
  ({ baseUrl, graphqlUrl, serverlessUrl, apiKey }) =>
    console.log(JSON.stringify({ baseUrl, graphqlUrl, serverlessUrl, apiKey })),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
