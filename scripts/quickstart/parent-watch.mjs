/**
 * Preloaded into a process that must not outlive the script that started it: stops this process gracefully after the
 * script's end, whatever its cause.
 */
if (process.channel) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
