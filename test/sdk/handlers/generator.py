import runpod


def handler(job):
    for index in range(job["input"]["count"]):
        yield {"index": index}


runpod.serverless.start({"handler": handler, "return_aggregate_stream": True})
