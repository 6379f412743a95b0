//! Tasks and their recovery, as people see them.

use verger_api as api;
use verger_core::recovery::{RecoveryView, Status};
use verger_core::tasks::{TaskStatus, TaskView};

use super::agent::time;
use crate::monitor::Calendar;

/// One task.
pub fn task(view: &TaskView, calendar: &Calendar) -> api::Task {
    let time = |at| time(calendar, at);
    let is_over = view.ended_at.is_some();
    api::Task {
        task_id: view.id.to_string(),
        agent_id: view.agent.as_ref().map(ToString::to_string),
        status: task_status(view.status),
        description: view.description.as_ref().map(ToString::to_string),
        assigned_at: view.assigned_at.map(time),
        expected_completion: view.due.map(time),
        last_progress_update: view.updated_at.filter(|_| !is_over).map(time),
        progress_percentage: view.percent,
        explanation: view.explanation.as_ref().map(ToString::to_string),
        stalled_since: view.stalled_since.map(time),
        failed_since: view.failed_since.map(time),
        ended_at: view.ended_at.map(time),
    }
}

fn task_status(status: TaskStatus) -> api::TaskStatus {
    match status {
        TaskStatus::Assigned => api::TaskStatus::Assigned,
        TaskStatus::InProgress => api::TaskStatus::InProgress,
        TaskStatus::Done => api::TaskStatus::Done,
        TaskStatus::Failed => api::TaskStatus::Failed,
        TaskStatus::Cancelled => api::TaskStatus::Cancelled,
    }
}

/// The way back.
pub fn task_status_in(status: api::TaskStatus) -> TaskStatus {
    match status {
        api::TaskStatus::Assigned => TaskStatus::Assigned,
        api::TaskStatus::InProgress => TaskStatus::InProgress,
        api::TaskStatus::Done => TaskStatus::Done,
        api::TaskStatus::Failed => TaskStatus::Failed,
        api::TaskStatus::Cancelled => TaskStatus::Cancelled,
    }
}

/// The recovery of one task.
pub fn recovery(view: &RecoveryView, calendar: &Calendar) -> api::RecoveryStatus {
    api::RecoveryStatus {
        task_id: view.task.to_string(),
        agent_id: view.agent.to_string(),
        status: phase(view.status),
        since: time(calendar, view.since),
        attempt: view.attempt.into(),
        from_checkpoint: view.from_checkpoint.as_ref().map(ToString::to_string),
        incarnation: view.incarnation.0,
        next_attempt_at: view.next_attempt_at.map(|at| time(calendar, at)),
        reason: view.reason.clone(),
    }
}

fn phase(status: Status) -> api::RecoveryPhase {
    match status {
        Status::Waiting => api::RecoveryPhase::Waiting,
        Status::Running => api::RecoveryPhase::Running,
        Status::Watching => api::RecoveryPhase::Watching,
        Status::Succeeded => api::RecoveryPhase::Succeeded,
        Status::Failed => api::RecoveryPhase::Failed,
        Status::HumanReview => api::RecoveryPhase::HumanReview,
    }
}
