import type { CallOptions } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import type { Context } from "../contract";
import type { NamedInputs, NamedObject, ObjectDefinition } from "../definition";

/** Returns true if an object has a name; a service may change names to an equivalent form. */
export function hasName<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  { inputs }: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: NamedObject,
  name: string,
): boolean {
  const { canonical = (text: string) => text } = optionsOf(inputs.shape.name);
  return canonical(object.name) === canonical(name);
}

/** Lists the objects with a name; the list may contain other objects. */
export function listNamed<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  { client }: ObjectDefinition<Inputs, Outputs, ApiObject>,
  name: string,
  options: CallOptions,
  { clients }: Pick<Context, "clients">,
): Promise<ApiObject[]> {
  const requests = client(clients.management);
  return requests.listNamed ? requests.listNamed(name, options) : requests.list(options);
}
