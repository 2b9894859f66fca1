import { z } from "zod";

/** How an option appears in `start --help` and in docs/service-options.md. */
export interface OptionTexts {
  /** Flag of `start` with a placeholder for its value; undefined if only programs set the option. */
  flag?: string;
  /** Purpose. */
  text: string;
  /** Default in words, if the value of the default does not show it. */
  defaultText?: string;
  /** Further facts in docs/service-options.md, in Markdown. */
  details?: string;
  /** Example for messages about an invalid value of the flag. */
  example?: string;
}

/** The texts of the options, by the schema of each option. */
export const optionTexts = z.registry<OptionTexts>();
