//! Runs, their tools and models, and session stores, from the outside.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod agent_tools;
mod approvals;
mod gateway;
mod guardrails;
mod handoffs;
mod model_scripted;
mod model_server;
mod model_sim;
mod run;
mod sessions;
mod tools;
mod unknown_outcomes;
mod world;
