import { z } from "zod";
import { readApiKey } from "../api-key";
import { StartError } from "../errors";
import { readServiceAddress } from "../service-address";
import type { Output } from "./output";

const linkShape = z.object({ url: z.url() });

/** How long the service may take to respond, ms. */
const responseLimit = 10_000;

/** Prints a new link to the console of the service that runs on a data folder. */
export async function printConsoleLink(data: string, output: Output): Promise<void> {
  const address = readServiceAddress(data);
  const key = readApiKey(data);
  if (address === undefined || key === undefined)
    throw new StartError(`no service runs with the folder ${data}; start one, or pass its folder with --data`);
  const response = await fetch(`${address.serverlessUrl}/console/links`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    redirect: "manual",
    signal: AbortSignal.timeout(responseLimit),
  }).catch(() => {
    throw new StartError(
      `the service on ${address.serverlessUrl} does not respond; stop its process ${address.pid} and start it again`,
    );
  });
  if (response.status === 404)
    throw new StartError(`the service on ${address.serverlessUrl} has no console; start it again without --no-console`);
  const link = linkShape.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !link.success)
    throw new StartError(`the service on ${address.serverlessUrl} returned ${response.status} instead of a link`);
  output.out(link.data.url);
}
