//! What is stored of what agents use.

use super::{Damaged, Stored};
use crate::agent::Usage;
use crate::resources::{
    Account, Breach, Counter, FleetUse, Gauge, Level, Load, Meter, Resource, TaskMeter, Used,
};

fields!(Usage { account, breach, due, living, waste, stopping });
fields!(Breach { level, resource, value, limit });
fields!(Account { born_at, tokens, cost, life, task, earlier });
fields!(TaskMeter { id, given_at, left_at, meter });
fields!(Counter { high, adopted, at });
fields!(Meter { tokens, cost_micros, memory, cpu, warned, exceeded });
fields!(Gauge { value, sampled_at, near_since, over_since, under_since });
fields!(FleetUse { began_at, meter, living, counted_at, agent_time, load });
fields!(Load { memory_bytes, cpu_millis });
fields!(Used { tokens, cost_micros });

variants!(Level { 0 = Agent, 1 = Task, 2 = Fleet });
variants!(Resource { 0 = Tokens, 1 = Cost, 2 = WallTime, 3 = Memory, 4 = Cpu });
