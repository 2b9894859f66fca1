import { z } from "zod";
import type { Cluster } from "./cluster";

const eventList = z.looseObject({
  items: z.array(
    z.looseObject({
      type: z.string().nullish(),
      reason: z.string().nullish(),
      message: z.string().nullish(),
      lastTimestamp: z.string().nullish(),
    }),
  ),
});

/** The newest warning about the first of some objects that has one; undefined if none has. */
export async function lastWarning(cluster: Cluster, names: string[]): Promise<string | undefined> {
  for (const name of names) {
    const query = { fieldSelector: `involvedObject.name=${name},type=Warning` };
    const { items } = eventList.parse(await cluster.call("GET", cluster.path("events"), { query }));
    const [newest] = items.sort((a, b) => (b.lastTimestamp ?? "").localeCompare(a.lastTimestamp ?? ""));
    if (newest) return `${newest.reason}: ${newest.message}`;
  }
  return undefined;
}
