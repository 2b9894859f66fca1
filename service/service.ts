import type { EndpointFaults } from "./faults/faults";
import type { RuntimeName } from "./workers/runtimes";

/** A running local service. */
export interface Service {
  /** Root of all APIs: the provider's setting `url`. REST v2 is at `/v2`. */
  url: string;
  /** Root of REST v1. */
  baseUrl: string;
  graphqlUrl: string;
  serverlessUrl: string;
  /** The API key, also in `apiKeyFile` (mode 0600). */
  apiKey: string;
  apiKeyFile: string;
  /** A single-use link to the console, valid for an hour; undefined without a console. It grants the same access as the key. */
  consoleUrl: string | undefined;
  /** Image name → command, from the option `images` and the seed file. */
  images: Record<string, string>;
  /** Ids of the seed file's endpoints by name; empty without a seed file. */
  endpointIds: Record<string, string>;
  /** Runtime of images without a command. */
  runtime: RuntimeName;
  /** Facts about the place of the workers by name, such as their namespace; empty if they run on this machine. */
  place: Record<string, string>;
  /** Images without a command, used by endpoints at the start, that containers or pods pull. Empty with the runtime `none`. */
  imagesToPull: string[];
  /**
   * Replaces the injected faults of an endpoint, for tests of clients; returns the remaining faults. Without `faults`, changes nothing.
   * Throws a StartError for an unknown endpoint or an invalid fault.
   */
  faults(endpointId: string, faults?: EndpointFaults): EndpointFaults;
  /** Rejects new requests, waits up to `deadline` ms (default 5000) for running workers, and closes the store. */
  stop(deadline?: number): Promise<void>;
}
