import { toEngine } from "../../provider/engine/engine-properties";
import { message } from "../../provider/engine/protobuf";
import { properties, toPropertyMap } from "../../provider/engine/protobuf-struct";
import { type PropertyMap, toProperties } from "../../provider/engine/values";

const envelope = message({ properties: properties(1) });

/** Properties as the engine sends them to the plugin. */
export const engineProperties = (values: object): PropertyMap => toPropertyMap(toEngine(toProperties(values)));

/** The plugin's properties after encoding and decoding. */
export const roundTrip = (properties: PropertyMap | undefined): PropertyMap =>
  envelope.decode(envelope.encode(properties ? { properties } : {})).properties;
