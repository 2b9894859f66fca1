import type { EndpointFaults } from "./faults/faults";

/** A running local service. */
export interface Service {
  /** Root of all its APIs: the provider's setting `url`. REST v2 is at `/v2` below it. */
  url: string;
  /** Root of REST v1. */
  baseUrl: string;
  graphqlUrl: string;
  serverlessUrl: string;
  /** The API key, also in `apiKeyFile` (mode 0600). */
  apiKey: string;
  apiKeyFile: string;
  /** A link that opens the console once, within an hour; undefined without a console. Whoever has it can do what the key can. */
  consoleUrl: string | undefined;
  /** Image name → command, of the option `images` and of the seed file. */
  images: Record<string, string>;
  /** Ids of the seed file's endpoints by name; empty without a seed file. */
  endpointIds: Record<string, string>;
  /** Images of endpoints at the start that have no command: containers pull them. Empty with the runtime `none`. */
  imagesToPull: string[];
  /**
   * Replaces the faults that are injected into an endpoint, for tests of clients; returns those that are left. Without `faults`, it
   * changes nothing. Throws a StartError for an unknown endpoint or an invalid fault.
   */
  faults(endpointId: string, faults?: EndpointFaults): EndpointFaults;
  /** Requests answered since start, workers' own calls not counted. */
  requestCount(): number;
  /** Stops taking requests, gives running workers up to `deadline` ms (default 5000) to finish, and closes the store. */
  stop(deadline?: number): Promise<void>;
}
