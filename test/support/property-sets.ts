import type { PropertySet } from "../../provider/lifecycle/failures";
import { message } from "../../provider/protocol/protobuf";
import { properties, toPropertySet } from "../../provider/protocol/structs";
import { toWire } from "../../provider/protocol/values";

const envelope = message({ properties: properties(1) });

/** Properties as the engine sends them to the plugin. */
export const engineProperties = (values: object): PropertySet => toPropertySet(toWire(values));

/** The plugin's properties after encoding and decoding. */
export const roundTrip = (properties: PropertySet | undefined): PropertySet =>
  envelope.decode(envelope.encode(properties ? { properties } : {})).properties;
