import type * as pulumi from "@pulumi/pulumi";
import type * as front from "../../provider/index";

/*
 * What a generated SDK offers, as types only: the classes and arguments are named as those of the dynamic resources, and
 * its look-ups answer outputs.
 */
/** Without the room that answers of the service have for fields of a later version. */
type Known<Value> = Value extends object
  ? { [Key in keyof Value as string extends Key ? never : Key]: Known<Value[Key]> }
  : Value;

type LookUp<Find extends (...args: never[]) => Promise<object>, Which> = (
  which: Which,
) => pulumi.Output<Known<Awaited<ReturnType<Find>>>>;
type ByIdOrName = { id?: pulumi.Input<string>; name?: pulumi.Input<string> };

export declare const getTemplateOutput: LookUp<typeof front.getTemplate, ByIdOrName>;
export declare const getServerlessEndpointOutput: LookUp<typeof front.getServerlessEndpoint, ByIdOrName>;
export declare const getNetworkVolumeOutput: LookUp<typeof front.getNetworkVolume, ByIdOrName>;
export declare const getSecretOutput: LookUp<typeof front.getSecret, ByIdOrName>;
export declare const getEndpointHealthOutput: LookUp<
  typeof front.getEndpointHealth,
  { endpointId: pulumi.Input<string> }
>;
export {
  ContainerRegistryAuth,
  JobInvoke,
  NetworkVolume,
  Secret,
  ServerlessEndpoint,
  Template,
} from "../../provider/index";
