"""Runs the public SDK's client against the service named in the environment; prints one JSON line."""

import json
import sys
import time

import runpod

runpod.api_key = sys.stdin.readline().strip()
plain, generator = runpod.Endpoint(sys.argv[1]), runpod.Endpoint(sys.argv[2])
said = {}

job = plain.run({"input": {"text": "hello"}})
said["output"] = job.output(timeout=30)
said["status"] = job.status()
said["sync"] = plain.run_sync({"input": {"text": "now"}}, timeout=30)

streaming = generator.run({"input": {"count": 3}})
said["stream"] = list(streaming.stream())

running = plain.run({"input": {"do": "progress", "seconds": 20}})
for _ in range(100):
    if running.status() == "IN_PROGRESS":
        break
    time.sleep(0.1)
waiting = plain.run({"input": {"text": "purged"}})
said["purged"] = plain.purge_queue()
said["cancelled"] = running.cancel()["status"]
said["health"] = plain.health()
print(json.dumps(said))
