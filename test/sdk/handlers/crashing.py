import runpod


def concurrency(current):
    raise ValueError("no concurrency")


runpod.serverless.start({"handler": lambda job: None, "concurrency_modifier": concurrency})
