/** A command line that cannot be split into words. */
export class CommandLineError extends Error {
  override readonly name = "CommandLineError";
}

/**
 * Splits a command line into words by shell rules, without running a shell. Blanks separate words. Text in '…' is literal; in "…",
 * \" and \\ are escapes; elsewhere, a backslash escapes the next character. Nothing is expanded.
 */
export function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index);
    if (quote) {
      if (char === quote) quote = undefined;
      else if (quote === '"' && char === "\\" && /["\\]/.test(line.charAt(index + 1)))
        word = `${word ?? ""}${line.charAt(++index)}`;
      else word = `${word ?? ""}${char}`;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "\\") {
      if (index + 1 === line.length) throw new CommandLineError(`"${line}" ends with a backslash`);
      word = `${word ?? ""}${line.charAt(++index)}`;
    } else {
      word = `${word ?? ""}${char}`;
    }
  }
  if (quote) throw new CommandLineError(`"${line}" has a quote (${quote}) that is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}
