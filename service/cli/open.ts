import { z } from "zod";
import { StartError } from "../errors";
import { connect } from "./connection";
import type { Output } from "./output";

const linkShape = z.object({ url: z.url() });

/** Prints a new link to the console of the service that runs on a data folder. */
export async function printConsoleLink(data: string, output: Output): Promise<void> {
  const { serviceUrl, send } = connect(data);
  const { status, json } = await send("POST", "/console/links");
  if (status === 404)
    throw new StartError(`the service on ${serviceUrl} has no console; start it again without --no-console`);
  const link = linkShape.safeParse(json);
  if (status !== 200 || !link.success)
    throw new StartError(`the service on ${serviceUrl} returned ${status} instead of a link`);
  output.out(link.data.url);
}
