import { run } from "../../../../../service/cli/main";

/** Runs the command line as a user without privileges. */
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65534);
  process.setuid?.(65534);
}
void run();
