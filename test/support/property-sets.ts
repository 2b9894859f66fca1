import type { PropertySet } from "../../provider/lifecycle/failures";
import { message } from "../../provider/protocol/protobuf";
import { properties, received } from "../../provider/protocol/structs";
import { toWire } from "../../provider/protocol/values";

const envelope = message({ set: properties(1) });

/** Properties as the engine sends them to the plugin. */
export const sent = (values: object): PropertySet => received(toWire(values));

/** The plugin's properties after encoding and decoding. */
export const arrived = (set: PropertySet | undefined): PropertySet =>
  envelope.decode(envelope.encode(set ? { set } : {})).set;
