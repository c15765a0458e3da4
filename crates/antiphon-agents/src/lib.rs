//! Agents that cannot lose the state of their conversations.

/// Implements `Debug` of an error as its text, which a program prints whose `main` returns it.
macro_rules! debug_as_text {
    ($error:ty) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

pub mod agent;
mod compaction;
mod graph;
mod guardrail;
mod hooks;
mod input;
mod item_json;
pub mod machine;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
mod output;
pub mod roster;
pub mod rules;
pub mod run;
pub mod session;
mod state;
mod team;
mod time_limit;
pub mod tool;
mod tree;
mod usage;

pub use antiphon::Item;
pub use async_trait::async_trait;

pub use agent::{Agent, Handoff};
pub use compaction::Compaction;
pub use graph::mermaid;
pub use guardrail::{
    CallVerdict, InputGuardrail, OutputGuardrail, OutputVerdict, ToolGuardrail, Verdict,
};
pub use hooks::{HookError, Hooks};
pub use input::{Input, user};
pub use model::Model;
pub use run::{AgentTool, Run, RunError, RunEvent, RunResult};
pub use state::State;
pub use team::{Team, TeamError};
pub use tool::{Tool, ToolContext, ToolError, tool};
pub use tree::RunTree;
pub use usage::RunUsage;
