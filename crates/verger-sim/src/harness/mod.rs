//! Runs the production engine against a seeded world and says how it did.
//!
//! ```text
//! world ──deliveries──► socket ──► engine ──► disk ──► released effects ──► world
//!   │                     ▲          ▲         │              │
//!   truth           pauses, crashes, clock steps,             │
//!   │               slow and failing commits                  │
//!   └──────────────► score and checkers ◄── trace ◄───────────┘
//! ```
//!
//! Phase one lets faults happen and checks that nothing wrong is done. Phase two heals the world and
//! checks that everything is cleared. A run is a pure function of its options.

mod alarm;
mod allowance;
mod breakers;
mod disk;
mod drill;
mod heard;
mod judgement;
mod known;
mod machine;
mod messages;
mod monitor;
mod monitor_faults;
mod options;
mod report;
mod run;
mod score;
mod seen;

pub(crate) use alarm::is_bad;
pub use alarm::{Alarm, Alarms};
pub use allowance::{Circumstances, allowance};
pub use breakers::{BreakerLog, ServiceReport, Turned};
pub use judgement::{Finding, Judgement};
pub use messages::MessageReport;
pub use monitor_faults::{CrashPoint, MonitorFault, MonitorFaults};
pub use options::{Mode, Options, Progress};
pub use report::{FaultReport, Latency, MonitorReport, NudgeReport, RecoveryReport, Report, WarningReport};
pub use run::{Finished, run, run_with};
pub(crate) use score::is_ordered_end;
pub use seen::SeenTime;
