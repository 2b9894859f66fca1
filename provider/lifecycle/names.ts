import { limits } from "serverless-compute-api/shapes";

/** Hexadecimal digits of a random suffix, as in other Pulumi providers. */
const suffixLength = 7;

/** The readable part of a name, cut so that a suffix fits; never ends in a lone surrogate. */
const cut = (readable: string): string =>
  readable.slice(0, limits.nameLength - suffixLength - 1).replace(/[\uD800-\uDBFF]$/, "");

/** A readable name with a random suffix of `seed`, no longer than the service allows. */
export const suffixed = (readable: string, seed: Uint8Array): string =>
  `${cut(readable)}-${Buffer.from(seed).toString("hex").slice(0, suffixLength)}`;

/** Whether `name` is `readable` with a suffix. Early versions wrote eight digits. */
export const isSuffixed = (name: string, readable: string): boolean =>
  /-[0-9a-f]{7,8}$/.test(name) && name.slice(0, name.lastIndexOf("-")) === cut(readable);
