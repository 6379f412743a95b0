//! The thirteen operations of 000 §6, as a trait.

use crate::{
    AgentHealth, CircuitBreakerStatus, EscalationResult, HealthSnapshot, Heartbeat, HumanDuration,
    NudgeResult, RecoveryResult, RecoveryStatus, TerminationResult,
};

/// `HealthMonitoringService` of 000 §6: the same operations that HTTP serves, for programs in Rust (L50).
///
/// Asynchronous, because its first implementor is a client that waits for the network, and a program that watches a
/// fleet asks about many agents at once. The futures are `Send`, so that they run on any runtime; none is named
/// here. The price is that there is no `dyn HealthMonitoringService`: whoever uses it is generic over it. Boxed
/// futures would allow that, and would cost every caller an allocation for what almost nobody needs.
///
/// ```
/// use verger_api::{HealthMonitoringService, HealthState};
///
/// /// Reminds whoever is stuck, and says how many that were.
/// async fn remind<S: HealthMonitoringService>(service: &S) -> Result<usize, S::Error> {
///     let mut reminded = 0;
///     for agent in service.get_all_agent_health().await? {
///         if agent.state == HealthState::Stuck {
///             service.send_nudge(&agent.agent_id, None).await?;
///             reminded += 1;
///         }
///     }
///     Ok(reminded)
/// }
/// ```
pub trait HealthMonitoringService {
    /// Why an operation failed. A refusal of the monitor carries a [`Problem`](crate::Problem).
    type Error: std::error::Error + Send + Sync + 'static;

    /// How one agent is doing.
    fn get_agent_health(
        &self,
        agent_id: &str,
    ) -> impl Future<Output = Result<AgentHealth, Self::Error>> + Send;

    /// How all agents are doing, page by page behind the scenes.
    fn get_all_agent_health(&self) -> impl Future<Output = Result<Vec<AgentHealth>, Self::Error>> + Send;

    /// How an agent was, oldest first, back to so long ago.
    fn get_health_history(
        &self,
        agent_id: &str,
        duration: HumanDuration,
    ) -> impl Future<Output = Result<Vec<HealthSnapshot>, Self::Error>> + Send;

    /// Tells that an agent is alive, and what it says of itself.
    fn record_heartbeat(
        &self,
        heartbeat: Heartbeat<'_>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// An agent's last heartbeat, if it ever sent one.
    fn get_last_heartbeat(
        &self,
        agent_id: &str,
    ) -> impl Future<Output = Result<Option<Heartbeat<'static>>, Self::Error>> + Send;

    /// Reminds an agent, by this text or by its role's own.
    fn send_nudge(
        &self,
        agent_id: &str,
        message: Option<&str>,
    ) -> impl Future<Output = Result<NudgeResult, Self::Error>> + Send;

    /// Asks the orchestrator about an agent.
    fn escalate_to_orchestrator(
        &self,
        agent_id: &str,
        reason: &str,
    ) -> impl Future<Output = Result<EscalationResult, Self::Error>> + Send;

    /// Ends an agent.
    fn terminate_agent(
        &self,
        agent_id: &str,
        reason: &str,
    ) -> impl Future<Output = Result<TerminationResult, Self::Error>> + Send;

    /// One circuit breaker.
    fn get_circuit_breaker_status(
        &self,
        name: &str,
    ) -> impl Future<Output = Result<CircuitBreakerStatus, Self::Error>> + Send;

    /// All circuit breakers.
    fn get_all_circuit_breakers(
        &self,
    ) -> impl Future<Output = Result<Vec<CircuitBreakerStatus>, Self::Error>> + Send;

    /// Closes a circuit breaker: all is well with what is behind it.
    fn reset_circuit_breaker(&self, name: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Takes up the work of a task again.
    fn initiate_recovery(
        &self,
        task_id: &str,
    ) -> impl Future<Output = Result<RecoveryResult, Self::Error>> + Send;

    /// How the recovery of a task stands.
    fn get_recovery_status(
        &self,
        task_id: &str,
    ) -> impl Future<Output = Result<RecoveryStatus, Self::Error>> + Send;
}
