import { z } from "zod";
import type { Cluster } from "./cluster";

const eventList = z.looseObject({
  items: z.array(
    z.looseObject({
      reason: z.string().nullish(),
      message: z.string().nullish(),
      lastTimestamp: z.string().nullish(),
    }),
  ),
});

interface Warning {
  reason: string;
  message: string;
}

/** The newest warning about an object, of any reason or of one; undefined if there is none. */
export async function lastWarning(cluster: Cluster, name: string, reason?: string): Promise<Warning | undefined> {
  const selectors = [
    `involvedObject.name=${name}`,
    "type=Warning",
    ...(reason === undefined ? [] : [`reason=${reason}`]),
  ];
  const query = { fieldSelector: selectors.join(",") };
  const { items } = eventList.parse(await cluster.call("GET", cluster.path("events"), { query }));
  const [newest] = items.sort((a, b) => (b.lastTimestamp ?? "").localeCompare(a.lastTimestamp ?? ""));
  return newest && { reason: newest.reason ?? "", message: newest.message ?? "" };
}
