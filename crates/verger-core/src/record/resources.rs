//! What is stored of what agents use.

use super::{Damaged, Stored};
use crate::resources::{Account, Counter, FleetUse, Gauge, Load, Meter, TaskMeter, Used};

fields!(Account { born_at, tokens, cost, life, task });
fields!(TaskMeter { id, given_at, meter });
fields!(Counter { high, adopted, at });
fields!(Meter { tokens, cost_micros, memory, cpu, warned, exceeded });
fields!(Gauge { value, sampled_at, near_since, over_since, under_since });
fields!(FleetUse { began_at, meter, living, counted_at, agent_time, load });
fields!(Load { memory_bytes, cpu_millis });
fields!(Used { tokens, cost_micros });
