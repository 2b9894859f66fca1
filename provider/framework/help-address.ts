import { pagesAddress } from "../generated/publication";
import { type HelpKey, helpTitles } from "./help";

/** Appends the address of a help page to a message if the error has a key and the pages are published. */
export function withHelp(message: string, key: HelpKey | undefined, pages = pagesAddress): string {
  if (pages === undefined || key === undefined) return message;
  const anchor = helpTitles[key]
    .toLowerCase()
    .replace(/[^a-z0-9 ]/g, "")
    .replaceAll(" ", "-");
  return `${message}\nHelp: ${pages}/guides/troubleshooting.md#${anchor}`;
}
