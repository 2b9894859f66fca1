/** Where a command line writes whole lines to. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}
