"""Tests of the deployed endpoint."""


def run(service, outputs):
    return service.call("POST", f"{outputs['url']}/runsync", {"input": {"name": "Ada"}})


def test_the_endpoint_greets(service, outputs):
    status, job = run(service, outputs)
    assert status == 200
    assert (job["status"], job["output"]) == ("COMPLETED", {"text": "Hello, Ada"})


def test_a_client_that_retries_survives_two_rejected_requests(service, outputs):
    faults = f"{service.url}/local/endpoints/{outputs['endpointId']}/faults"
    service.call("PUT", faults, {"tooManyRequests": 1, "serverErrors": 1})
    assert [run(service, outputs)[0] for _ in range(3)] == [429, 500, 200]


def test_a_failed_job_has_an_error(service, outputs):
    faults = f"{service.url}/local/endpoints/{outputs['endpointId']}/faults"
    service.call("PUT", faults, {"failJobs": 1})
    _, job = run(service, outputs)
    assert (job["status"], job["error"]) == ("FAILED", "injected fault: the job fails")
