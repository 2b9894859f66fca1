/**
 * The program text that a resource keeps in state: it leads to the code of the installed package and holds none itself.
 * Refresh and destroy run the text of the state that is there, so every text that was ever shipped has to work for ever:
 * never change it. It is one constant per kind, so an upgrade of the package is no difference.
 */
export const stubText = (kind: string): string =>
  `exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("${kind}")`;

/** Type token of a resource of this door. It lands in every URN: never change it. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/serverless:${kind}`;
