"""A client that a generator made from /openapi.json does what an agent, an orchestrator and a person do."""

import os

from verger_client import AuthenticatedClient, Client
from verger_client.api.agents import get_agent, list_agents
from verger_client.api.breakers import acquire_permit, get_breaker, report_call
from verger_client.api.checkpoints import get_checkpoint, save_checkpoint
from verger_client.api.events import list_agent_events
from verger_client.api.fleet import get_fleet
from verger_client.api.ingest import post_heartbeats, post_signals
from verger_client.api.interventions import nudge_agent
from verger_client.api.tasks import get_task, put_task
from verger_client.models import (
    CallReport,
    Heartbeat,
    NewCheckpoint,
    NudgeRequest,
    Problem,
    TaskUpdate,
    ToolCallSignal,
)

URL = os.environ["VERGER_URL"]
anybody = Client(base_url=URL)
admin = AuthenticatedClient(base_url=URL, token=os.environ["VERGER_TOKEN"])

report = post_heartbeats.sync(client=anybody, body=Heartbeat(agent_id="a", task_id="t", token_count=7))
assert report.accepted == 1, report
call = {"kind": "toolCall", "agentId": "a", "callId": "1", "tool": "grep", "phase": "finished"}
report = post_signals.sync(client=anybody, body=ToolCallSignal.from_dict(call))
assert report.accepted == 1, report
report = post_signals.sync(client=anybody, body=[ToolCallSignal.from_dict(call | {"callId": str(n)}) for n in (2, 3)])
assert report.accepted == 2, report

health = get_agent.sync("a", client=admin)
assert (health.agent_id, health.task_id, str(health.state)) == ("a", "t", "HEALTHY"), health
assert health.metrics.tool_call_count == 3, health.metrics
assert [one.agent_id for one in list_agents.sync(client=admin).items] == ["a"]
assert get_fleet.sync(client=admin).agents == 1

task = put_task.sync("t", client=admin, body=TaskUpdate(agent_id="a", description="it has to be done"))
assert task.description == get_task.sync("t", client=admin).description == "it has to be done", task
saved = save_checkpoint.sync(
    client=admin, body=NewCheckpoint(agent_id="a", task_id="t", state={"step": 7, "done": [1, None, "x"]})
)
kept = get_checkpoint.sync(saved.id, client=admin)
assert kept.state == {"step": 7, "done": [1, None, "x"]} and kept.hash_ == saved.hash_, kept

permit = acquire_permit.sync("a/tool/grep", client=admin)
reported = report_call.sync_detailed("a/tool/grep", client=admin, body=CallReport(permit=permit.permit, ok=False))
assert reported.status_code == 204, reported
assert get_breaker.sync("a/tool/grep", client=admin).failure_count == 1

nudge = nudge_agent.sync("a", client=admin, body=NudgeRequest(message="look"))
assert str(nudge.delivery) == "queued", nudge
pending = post_heartbeats.sync(client=anybody, body=Heartbeat(agent_id="a")).pending
assert [item.message for item in pending] == ["look"], pending
kinds = {str(event.type_) for event in list_agent_events.sync("a", client=admin).items}
assert "NUDGE_SENT" in kinds, kinds

# What is refused says why, in words that a program can read.
refused = get_agent.sync("nobody", client=admin)
assert isinstance(refused, Problem) and refused.status == 404 and refused.code == "VG0101", refused
