import { keyRotationThrough } from "../ways/key-rotation";
import { dynamicWay } from "./way";

keyRotationThrough(
  dynamicWay,
  'new pulumi.ProviderResource("pulumi-nodejs", "own", { "serverless-compute:apiKey": key })',
);
