import type { PropertySet } from "../../provider/engine/failures";
import { message } from "../../provider/engine/protobuf";
import { toWire } from "../../provider/engine/values";
import { properties, received } from "../../provider/plugin/structs";

const envelope = message({ set: properties(1) });

/** Properties as the plugin gets them from the engine. */
export const sent = (values: object): PropertySet => received(toWire(values));

/** What the plugin returned as the engine gets it. */
export const arrived = (set: PropertySet | undefined): PropertySet =>
  envelope.decode(envelope.encode(set ? { set } : {})).set;
