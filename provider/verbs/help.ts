import { pagesAddress } from "../generated/publication";

/**
 * Titles of docs/guides/troubleshooting.md, each a part of the messages that link to it. The first match applies.
 */
export const helpTitles = [
  "failed its verification",
  "rejected the API key, or the key lacks permission",
  "the API key is valid but lacks a permission",
  "has retired",
  "connection refused",
  "cannot resolve the host of",
  "the account's limit is reached",
  "the name is already taken in this account",
  "adoptExisting requires exactly one object",
  "which cannot change in place",
  "still uses it and is not deleted by this deployment",
  "no endpoint uses it, but a pod may",
] as const;

/** Appends the address of a help page, if there is one and the pages are published. */
export function withHelp(message: string, pages = pagesAddress): string {
  const title = helpTitles.find((candidate) => message.includes(candidate));
  if (pages === undefined || title === undefined) return message;
  const anchor = title
    .toLowerCase()
    .replace(/[^a-z0-9 ]/g, "")
    .replaceAll(" ", "-");
  return `${message}\nHelp: ${pages}/guides/troubleshooting.md#${anchor}`;
}
