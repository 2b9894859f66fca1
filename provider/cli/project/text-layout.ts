/** Puts one level of indentation in front of every line that is not empty. */
export const indent = (text: string, indentation: string): string => text.replace(/^(?=.)/gm, indentation);

/** `imageName` as `ImageName`. */
export const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `imageName` or `image-name` as `image_name`. */
export const snakeCase = (name: string): string =>
  name.replaceAll("-", "_").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Line separators and other invisible characters that JSON leaves as they are. YAML rejects or changes some, and `indent` breaks lines there. */
const invisible = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A text between double quotes, or another constant as it is. All languages here read the escapes of JSON. */
export const quote = (value: string | number | boolean | null): string =>
  JSON.stringify(value).replace(invisible, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Text as a word of a shell's command line. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Text as a YAML scalar. Only text that no YAML parser reads as another type stays unquoted. */
export const scalarText = (text: string): string =>
  /^[A-Za-z](?:[\w./-]|:(?=\w)| (?=[\w./]))*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : quote(text);

/** Parts between brackets, each on its own line and followed by a comma. */
export const block = (open: string, parts: readonly string[], close: string, indentation: string): string =>
  `${open}\n${indent(parts.map((part) => `${part},`).join("\n"), indentation)}\n${close}`;

/** Parts between brackets: on one line if they are short, otherwise each on its own line. */
export function bracketed(open: string, parts: readonly string[], close: string, indentation: string): string {
  const line = `${open}${parts.join(", ")}${close}`;
  return line.length <= 80 && !line.includes("\n")
    ? line
    : block(open.trimEnd(), parts, close.trimStart(), indentation);
}

/** A composite literal of Go in the format of gofmt, which aligns the values of adjacent lines. */
export function goLiteral(type: string, entries: readonly { key: string; text: string }[]): string {
  const lines = entries.map(({ key, text }, index) => {
    let from = index;
    let to = index;
    const isShort = (at: number): boolean => entries[at]?.text.includes("\n") === false;
    if (isShort(index)) {
      while (isShort(from - 1)) from -= 1;
      while (isShort(to + 1)) to += 1;
    }
    const width = Math.max(...entries.slice(from, to + 1).map((entry) => entry.key.length));
    return `${`${key}:`.padEnd(width + 1)} ${text},`;
  });
  return `${type}{\n${indent(lines.join("\n"), "\t")}\n}`;
}
