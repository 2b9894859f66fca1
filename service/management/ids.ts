import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Lengths of the ids that the service gives; they look like `jpnw0v75y3qoql`. */
const lengths = { endpoint: 14, template: 10, volume: 10, secret: 14, registryAuth: 14 } as const;

/** A new random id for an object of a kind. */
export const newId = (kind: keyof typeof lengths): string =>
  Array.from({ length: lengths[kind] }, () => letters.charAt(randomInt(letters.length))).join("");
