import { StartError } from "../errors";
import { lookUpWorkerToken } from "../workers/tokens";
import { chooseEndpoint } from "./endpoint-choice";
import type { Output } from "./output";

/** Prints the token with which workers that the service did not start sign in; needs no running service. */
export function printToken(endpoint: string, data: string, output: Output): void {
  const { id, name } = chooseEndpoint(endpoint, data);
  const token = lookUpWorkerToken(data, id);
  if (token === undefined)
    throw new StartError(`endpoint "${name}" (${id}) has no worker token yet: start the service`);
  output.out(token);
}
