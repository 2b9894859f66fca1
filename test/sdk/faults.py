"""Runs one call of the public SDK's client for each line of JSON on standard input, after the key; prints its end as a line of JSON."""

import json
import sys

import runpod

runpod.api_key = sys.stdin.readline().strip()
job_input = {"input": {"text": "ping"}}
jobs = {}


def submit(endpoint, timeout):
    jobs[endpoint] = runpod.Endpoint(endpoint).run(job_input)


def follow(endpoint, timeout):
    output = jobs[endpoint].output(timeout=timeout)
    return f"{jobs[endpoint].status()} {output}"


def sync(endpoint, timeout):
    return f"{runpod.Endpoint(endpoint).run_sync(job_input, timeout=timeout)}"


calls = {"submit": submit, "follow": follow, "sync": sync}

for line in sys.stdin:
    name, endpoint, timeout = json.loads(line)
    try:
        end = {"returned": calls[name](endpoint, timeout)}
    except Exception as error:
        end = {"raised": f"{type(error).__name__}: {error}"}
    print(json.dumps(end), flush=True)
