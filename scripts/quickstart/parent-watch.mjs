/**
 * Preloaded into a process that must not outlive the script that started it: when that script is gone, however it
 * ended, this process asks itself to stop in order.
 */
if (process.channel) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
