"""gRPC's own health client, as any gRPC program would use it: Check, List and Watch."""

import json
import os
import urllib.request

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

URL = os.environ["VERGER_URL"]
ADMIN = [("authorization", f"Bearer {os.environ['VERGER_TOKEN']}")]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


def post(path, body):
    headers = {"Authorization": f"Bearer {os.environ['VERGER_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        report = json.load(answer)
        assert report["accepted"] == 1, report


def request(service):
    return health_pb2.HealthCheckRequest(service=service)


def refusal(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    raise AssertionError("it was not refused")


with grpc.insecure_channel(URL.removeprefix("http://")) as channel:
    health = health_pb2_grpc.HealthStub(channel)

    assert health.Check(request("")).status == SERVING, "the monitor's own health is anybody's"
    assert refusal(lambda: health.Check(request("a"))) == grpc.StatusCode.UNAUTHENTICATED
    assert refusal(lambda: health.Check(request("a"), metadata=ADMIN)) == grpc.StatusCode.NOT_FOUND

    # Who watches an agent that is not there yet is told when it comes, and when it ends.
    watch = health.Watch(request("a"), metadata=ADMIN)
    assert next(watch).status == SERVICE_UNKNOWN
    post("/v1/heartbeats", {"agentId": "a"})
    assert next(watch).status == SERVING
    assert health.Check(request("a"), metadata=ADMIN).status == SERVING

    listed = health.List(health_pb2.HealthListRequest(), metadata=ADMIN).statuses
    assert {name: one.status for name, one in listed.items()} == {"": SERVING, "a": SERVING}, listed

    post("/v1/signals", {"kind": "exit", "agentId": "a", "code": 1})
    assert next(watch).status == NOT_SERVING
    assert health.Check(request("a"), metadata=ADMIN).status == NOT_SERVING
    watch.cancel()
