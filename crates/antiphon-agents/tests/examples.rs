//! Runs the examples, which contain assertions, and compares them with the pages of the guide.

#![allow(clippy::duplicate_mod, reason = "each example is a program of its own")]

use std::fs;
use std::path::Path;
use std::process::Command;

use antiphon_agents::mcp::McpServer;

#[path = "../examples/agent_tool.rs"]
mod agent_tool;
#[path = "../examples/approval_across_restart.rs"]
mod approval_across_restart;
#[path = "../examples/approval_in_two_processes.rs"]
mod approval_in_two_processes;
#[path = "../examples/client.rs"]
mod client;
#[path = "../examples/compaction.rs"]
mod compaction;
#[path = "../examples/filtered_handoff.rs"]
mod filtered_handoff;
#[path = "../examples/guardrails.rs"]
mod guardrails;
#[path = "../examples/journal.rs"]
mod journal;
#[path = "../examples/killed_tool.rs"]
mod killed_tool;
#[path = "../examples/mcp.rs"]
mod mcp;
#[path = "../examples/owners.rs"]
mod owners;
#[path = "../examples/quickstart.rs"]
mod quickstart;
#[path = "../examples/replayed_effects.rs"]
mod replayed_effects;
#[path = "../examples/sse_route.rs"]
mod sse_route;
#[path = "../examples/tracing.rs"]
mod tracing;

/// The pages of the guide, each with the example that it begins with.
const PAGES: [(&str, &str); 13] = [
    ("README", "quickstart"),
    ("agent-tools", "agent_tool"),
    ("client", "client"),
    ("durability", "killed_tool"),
    ("guardrails", "guardrails"),
    ("handoffs", "filtered_handoff"),
    ("mcp", "mcp"),
    ("sessions", "compaction"),
    ("state", "owners"),
    ("streaming", "sse_route"),
    ("tools", "approval_across_restart"),
    ("tracing", "tracing"),
    ("workflows", "replayed_effects"),
];

#[test]
fn pages_begin_with_their_examples() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = package.join("../../docs/agents");
    let files = fs::read_dir(&guide).expect("the guide exists");
    assert_eq!(files.count(), PAGES.len(), "a page is not in the list");
    for (page, example) in PAGES {
        let text = fs::read_to_string(guide.join(page).with_extension("md"));
        let text = text.unwrap_or_else(|error| panic!("{page}: {error}"));
        let program = text.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
        let file = package.join("examples").join(example).with_extension("rs");
        let source = fs::read_to_string(file).expect("the example exists");
        // Only these tests need to see `main`.
        assert_eq!(program, Some(&*source.replace("pub(crate) ", "")), "{page}.md, {example}.rs");
    }
}

/// The second block of the page of MCP. It is only compiled: the server would come from a registry.
#[allow(dead_code, unused_variables, reason = "the block is compared and compiled")]
async fn connect_to_a_process() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = Command::new("uvx");
    command.args(["mcp-server-git", "--repository", "."]);
    let git = McpServer::stdio(command).connect().await?;
    Ok(())
}

#[test]
fn block_of_the_mcp_page_compiles() {
    let page = include_str!("../../../docs/agents/mcp.md");
    let block = page.split("```rust\n").nth(2).and_then(|rest| rest.split("```").next());
    let lines: Vec<&str> = block.expect("the page has two programs").lines().collect();
    let indented = format!("    {}\n", lines.join("\n    "));
    assert!(include_str!("examples.rs").contains(&indented), "{indented}");
}

#[test]
fn quickstart_refunds_after_an_approval() {
    quickstart::main().unwrap();
}

#[test]
fn each_owner_continues_its_conversation() {
    owners::main().unwrap();
}

#[test]
fn approval_is_given_after_a_restart() {
    approval_across_restart::main().unwrap();
}

/// The variable with the folder of a process that runs the example.
const FOLDER: &str = "ANTIPHON_EXAMPLE_FOLDER";

/// A process of the example in the test below.
#[test]
#[ignore = "another test starts it"]
fn process_of_an_approval() {
    std::env::set_current_dir(std::env::var_os(FOLDER).unwrap()).unwrap();
    approval_in_two_processes::main().unwrap();
}

#[test]
fn approval_is_given_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["process_of_an_approval", "--exact", "--ignored", "--nocapture"]);
        let output = test.env(FOLDER, folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let file = folder.path().join("waiting-run.json");

    let first = run();
    assert!(first.contains("refund(") && first.contains("waits for an approval"), "{first}");
    assert!(file.exists());

    let second = run();
    assert!(second.contains("refunded 9900 cents of A1 in EUR"), "{second}");
    assert!(!file.exists());
}

#[test]
fn agent_in_a_tool_waits_for_an_approval() {
    agent_tool::main().unwrap();
}

#[test]
fn filtered_handoff_forks_the_conversation() {
    filtered_handoff::main().unwrap();
}

#[test]
fn guardrail_rejects_an_input_without_a_request() {
    guardrails::main().unwrap();
}

#[test]
fn killed_tool_has_an_unknown_outcome() {
    killed_tool::main().unwrap();
}

#[test]
fn killed_run_continues_from_its_journal() {
    journal::main().unwrap();
}

#[test]
fn session_is_compacted() {
    compaction::main().unwrap();
}

#[test]
fn recorded_effects_are_not_repeated() {
    replayed_effects::main().unwrap();
}

#[test]
fn tool_of_an_mcp_server_is_called() {
    mcp::main().unwrap();
}

#[test]
fn run_streams_to_a_browser() {
    sse_route::main().unwrap();
}

#[test]
fn usage_of_each_agent_is_known() {
    tracing::main().unwrap();
}

#[test]
fn client_leaves_out_resent_items() {
    client::main().unwrap();
}
