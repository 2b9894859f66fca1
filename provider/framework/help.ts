import type { ApiError } from "serverless-compute-api";
import { pagesAddress } from "../generated/publication";

/** Titles of docs/guides/troubleshooting.md by the keys of errors. Each title is a part of the message. */
export const helpTitles = {
  verification: "failed its verification",
  key: "rejected the API key, or the key lacks permission",
  permission: "the API key is valid but lacks a permission",
  retired: "has retired",
  refused: "connection refused",
  unknownHost: "cannot resolve the host of",
  limit: "the account's limit is reached",
  nameTaken: "the name is already taken in this account",
  severalToAdopt: "adoptExisting requires exactly one object",
  fixedWhenAdopted: "which cannot change in place",
  templateInUse: "still uses it and is not deleted by this deployment",
  templateNotReleased: "no endpoint uses it, but a pod may",
} as const;

/** Key of a help page. */
export type HelpKey = keyof typeof helpTitles;

const keysByCode: Readonly<Record<string, HelpKey>> = {
  unauthorized: "key",
  forbidden: "permission",
  rest_v1_retired: "retired",
  graphql_retired: "retired",
  connection_refused: "refused",
  unknown_host: "unknownHost",
  quota: "limit",
  duplicate_name: "nameTaken",
};

/** Returns the help key for the explanation of a failed call; undefined if it has no page. */
export const helpForCall = ({ code }: ApiError): HelpKey | undefined =>
  Object.hasOwn(keysByCode, code) ? keysByCode[code] : undefined;

/** Appends the address of a help page to a message if the error has a key and the pages are published. */
export function withHelp(message: string, key: HelpKey | undefined, pages = pagesAddress): string {
  if (pages === undefined || key === undefined) return message;
  const anchor = helpTitles[key]
    .toLowerCase()
    .replace(/[^a-z0-9 ]/g, "")
    .replaceAll(" ", "-");
  return `${message}\nHelp: ${pages}/guides/troubleshooting.md#${anchor}`;
}
