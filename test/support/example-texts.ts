import type { PackageSchema } from "../../scripts/generate/schema/package-schema";

/** An example in a description of the package schema. */
export interface ExampleText {
  /** Token of the resource or function. */
  token: string;
  title: string;
  language: string;
  text: string;
}

/** Every example of a package schema, in each language. */
export function exampleTexts({ resources, functions }: Pick<PackageSchema, "resources" | "functions">): ExampleText[] {
  return Object.entries({ ...resources, ...functions }).flatMap(([token, { description }]) =>
    description.split("{{% example %}}").flatMap((part) => {
      const title = /^### (.+)$/m.exec(part)?.[1];
      const fences = part.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm);
      return title === undefined
        ? []
        : [...fences].map(([, language = "", text = ""]) => ({ token, title, language, text }));
    }),
  );
}
