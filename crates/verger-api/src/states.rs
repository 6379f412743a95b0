//! The words in which an agent's condition is told, everywhere the same.

use crate::words::words;

words! {
    /// How an agent is doing (000 §2.1), and `UNKNOWN` until there is evidence.
    pub enum HealthState {
        /// No evidence yet.
        Unknown = "UNKNOWN",
        /// It makes progress.
        Healthy = "HEALTHY",
        /// Warning signs.
        Degraded = "DEGRADED",
        /// No progress.
        Stuck = "STUCK",
        /// In an error loop, or broken.
        Failing = "FAILING",
        /// This life is over.
        Terminated = "TERMINATED",
    }
}

words! {
    /// Whether an agent is there, and what it seems to be doing.
    pub enum LivenessStatus {
        /// It shows life by its own activity.
        Online = "online",
        /// It shows life but does nothing.
        Idle = "idle",
        /// It shows life and is at work.
        Busy = "busy",
        /// The way to it works, and it does not answer.
        Unresponsive = "unresponsive",
        /// There is no way to it.
        Offline = "offline",
    }
}

words! {
    /// What seems to have happened to a silent agent.
    pub enum Cause {
        /// Pings arrive, and nothing answers.
        EventLoopFreeze = "event-loop-freeze",
        /// The process is gone.
        ProcessCrash = "process-crash",
        /// The way to it is broken.
        NetworkPartition = "network-partition",
    }
}

words! {
    /// How grave a silence is (001 §1.7).
    pub enum FailureClass {
        /// It may well come back by itself.
        Transient = "transient",
        /// An intervention can bring it back.
        Recoverable = "recoverable",
        /// This life is over.
        Terminal = "terminal",
    }
}

words! {
    /// What an agent can wait for.
    pub enum Awaited {
        /// A tool call in flight.
        Tool = "tool",
        /// An answer of the language model.
        Model = "model",
        /// A sub-agent at work.
        Subagent = "subagent",
        /// A person's answer or permission.
        Person = "person",
        /// The provider's outage or rate limit to end.
        Provider = "provider",
        /// A moment it set itself.
        Timer = "timer",
    }
}

words! {
    /// What may be done to an agent.
    pub enum Mode {
        /// It is watched.
        Observe = "observe",
        /// It is also reminded.
        Nudge = "nudge",
        /// People are also asked.
        Escalate = "escalate",
        /// It may also be ended.
        Full = "full",
    }
}

words! {
    /// What an agent says of itself.
    pub enum AgentStatus {
        /// All is well.
        Healthy = "healthy",
        /// At work; answers may be slow.
        Busy = "busy",
        /// In some trouble.
        Degraded = "degraded",
        /// Nothing to do.
        Idle = "idle",
        /// Waiting for something outside.
        Waiting = "waiting",
    }
}
