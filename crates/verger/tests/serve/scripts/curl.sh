# What people type who have nothing but curl and jq. Every line must succeed.
set -euo pipefail

beat() { curl -fsS "$VERGER_URL/v1/heartbeats" -d "$1"; }
see() { curl -fsS -H "Authorization: Bearer $VERGER_TOKEN" "$VERGER_URL$1"; }
order() { curl -fsS -H "Authorization: Bearer $VERGER_TOKEN" "$VERGER_URL$1" -d "$2"; }
status() { curl -sS -o /dev/null -w '%{http_code}' "$@"; }

curl -fsS "$VERGER_URL/health" | jq -e '.status == "ok"'
curl -fsS --unix-socket "$VERGER_DATA_DIR/verger.sock" http://localhost/ready | jq -e .ready

# One, many, and line by line; both spellings.
beat '{"agentId": "a", "taskId": "t"}' | jq -e '.accepted == 1 and .pending == []'
beat '[{"agent_id": "b", "token_count": 7}, {"no": "agent"}]' | jq -e '.accepted == 1 and .rejected[0].index == 1'
printf '{"agentId":"%s"}\n' c d e |
  curl -fsS "$VERGER_URL/v1/heartbeats" -H 'Content-Type: application/x-ndjson' --data-binary @- | jq -e '.accepted == 3'

see /v1/agents | jq -e '[.items[].agentId] == ["a", "b", "c", "d", "e"]'
see '/v1/agents?limit=2' | jq -e '(.items | length) == 2 and .nextCursor != null'
cursor=$(see '/v1/agents?limit=2' | jq -r '.nextCursor | @uri')
see "/v1/agents?limit=2&cursor=$cursor" | jq -e '[.items[].agentId] == ["c", "d"]'
see /v1/agents/b | jq -e '.metrics.tokenCount == 7 and .state == "HEALTHY"'
verger agents --json | jq -e '.items | length == 5'

# A reminder waits for the agent's next heartbeat, and is handed over once.
order /v1/agents/a/nudge '{"message": "look"}' | jq -e '.delivery == "queued"'
beat '{"agentId": "a"}' | jq -e '.pending[0].message == "look"'
beat '{"agentId": "a"}' | jq -e '.pending == []'

# Errors are problem documents, with a status that `curl -f` knows.
test "$(status "$VERGER_URL/v1/agents/a")" = 401
test "$(status -H "Authorization: Bearer $VERGER_TOKEN" "$VERGER_URL/v1/agents/nobody")" = 404
curl -sS "$VERGER_URL/v1/agents/a" | jq -e '.status == 401 and (.code | startswith("VG")) and .title and .detail'
if see /v1/agents/nobody 2>/dev/null; then exit 1; fi

# Events as they happen; a client that was away resumes after what it saw.
# The stream does not end: what reads it is left to end with the monitor.
next_event() {
  local line
  while read -r line; do
    if [[ $line == data:* ]]; then echo "${line#data:}"; return; fi
  done < <(curl -sSN -H "Authorization: Bearer $VERGER_TOKEN" -H "Last-Event-ID: $1" "$VERGER_URL/v1/events" 2>/dev/null)
}
first=$(next_event 0)
jq -e '.specversion == "1.0" and .id and .source and .type and .time' <<<"$first"
second=$(next_event "$(jq -r .id <<<"$first")")
jq -e --argjson first "$first" '(.id | tonumber) == ($first.id | tonumber) + 1' <<<"$second"

echo "all is as it should be"
