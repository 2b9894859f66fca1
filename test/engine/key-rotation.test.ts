import { keyRotationThrough } from "../doors/key-rotation";
import { dynamicDoor } from "./door";

keyRotationThrough(
  dynamicDoor,
  'new pulumi.ProviderResource("pulumi-nodejs", "own", { "serverless-compute:apiKey": key })',
);
