//! Agents and their handoffs as a graph.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::agent::{Agent, Parts};

/// The agents that `first` reaches, with their tools and handoffs, as a Mermaid flowchart.
///
/// ```
/// use antiphon_agents::{Agent, mermaid};
///
/// let billing = Agent::<(), _>::new("billing");
/// let triage = Agent::new("triage").handoff(&billing);
/// assert_eq!(mermaid(&triage), r#"flowchart LR
///     triage["triage"]
///     billing["billing"]
///     triage -->|transfer_to_billing| billing
/// "#);
/// ```
pub fn mermaid<C: 'static, M>(first: &Agent<C, M>) -> String {
    let mut lines = Vec::new();
    gather(first.parts(), &mut BTreeSet::new(), &mut lines);
    let mut graph = String::from("flowchart LR\n");
    for line in lines {
        writeln!(graph, "    {line}").expect("writing to a string cannot fail");
    }
    graph
}

fn gather<C: 'static>(parts: &Arc<Parts<C>>, seen: &mut BTreeSet<String>, lines: &mut Vec<String>) {
    if !seen.insert(parts.name.clone()) {
        return;
    }
    let name = node(&parts.name);
    lines.push(format!("{name}[\"{}\"]", quoted(&parts.name)));
    for tool in &parts.tools {
        let tool = &tool.spec().name;
        lines.push(format!("{name} -.-> {}_{}([\"{}\"])", name, node(tool), quoted(tool)));
    }
    for handoff in &parts.handoffs {
        if let Some(parts) = handoff.target_parts() {
            gather(parts, seen, lines);
        }
        let target = node(handoff.target());
        lines.push(format!("{name} -->|{}| {target}", handoff.tool_name()));
    }
}

/// A name that Mermaid accepts for a node.
fn node(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}

fn quoted(text: &str) -> String {
    text.replace('"', "#quot;")
}
