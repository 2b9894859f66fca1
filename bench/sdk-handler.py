"""The handler of the measurements for the public Python SDK: returns its input."""
import runpod

runpod.serverless.start({"handler": lambda job: job["input"]})
