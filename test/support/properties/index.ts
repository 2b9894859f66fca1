import { endpointRows } from "./endpoint";
import { type Kind, type Property, propertiesOf, type References } from "./property";
import { templateRows } from "./template";

/** A row for each property of each kind that a request can change. */
export const propertyTable = (references: References): Record<Kind, Property[]> => ({
  template: propertiesOf(templateRows(references)),
  endpoint: propertiesOf(endpointRows(references)),
});
