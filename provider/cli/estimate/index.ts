// The import `pulumi-serverless-compute/estimate`: costs for programs of others, such as policy packs.
export { type Cost, hourlyCost, isUnknown, pricedKindOf, type UnknownCost } from "./costs";
export { type Prices, pricesOfFile } from "./prices";
