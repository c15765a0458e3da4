//! What real clients put on the wire: whatever they send again, the model sees it once.

mod agent_framework;
mod agents_sdk;
mod ai_sdk;
mod azure;
mod langchain;
mod langgraph;
mod open_responses;
mod parallel_calls;
mod windows;
