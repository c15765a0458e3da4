//! The tools of a request for an API that has neither namespaces nor hosted tools.
//!
//! ```text
//!   function, custom ──────────────────────────> sent
//!   namespace ── its functions, by flat names ──> sent
//!   tool search that the client runs ───────────> sent as a function
//!   tools that such a search found ─────────────> sent
//!   hosted tool (web_search, …) ────────────────> left out, reported
//! ```

mod client_search;
mod flat_names;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub(super) use self::client_search::{TOOL_SEARCH, as_functions, search_arguments, search_call};
pub(super) use self::flat_names::FlatNames;
use crate::item::Item;
use crate::json::{Object, elements, quote};

/// The tools that a provider runs, or that only load other tools. A model can do without them. The
/// types have versions: `web_search_preview_2025_03_11`.
const HOSTED: [&str; 6] =
    ["web_search", "file_search", "code_interpreter", "image_generation", "mcp", "tool_search"];

/// The tools of a request.
#[derive(Default)]
pub(super) struct DeclaredTools<'a> {
    /// The tools of functions and texts, and those of unknown types.
    pub(super) tools: Vec<DeclaredTool<'a>>,
    /// The tools that the provider of the Responses API runs.
    pub(super) hosted: Vec<HostedTool>,
    /// The names of the functions of namespaces.
    pub(super) names: FlatNames,
    /// Whether the client runs tool searches.
    pub(super) has_client_search: bool,
}

/// A tool outside of a namespace, or a function of one under its flat name.
pub(super) struct DeclaredTool<'a> {
    /// The path of the definition: `tools[2]`, `tools[4].tools[0]`.
    pub(super) path: String,
    /// The definition.
    pub(super) definition: Object<'a>,
    /// Whether a search of the client found it. The request can be sent without it.
    pub(super) is_found: bool,
}

/// A tool that the provider of the Responses API runs.
pub(super) struct HostedTool {
    /// The path of the definition.
    pub(super) path: String,
    /// The type of the tool.
    pub(super) kind: String,
    /// The tool in the form of its provider, as a raw JSON object, if the tool is an extension.
    pub(super) content: Option<String>,
}

/// The error for definitions that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InvalidTools {
    /// The value at this path is no array.
    NotAnArray(String),
    /// The value at this path is no object.
    NotAnObject(String),
    /// The namespace at this path has no name.
    Nameless(String),
}

impl DeclaredTool<'_> {
    fn name(&self) -> Option<String> {
        text(&self.definition, "name")
    }
}

impl<'a> DeclaredTools<'a> {
    /// The tools of these fields. If the client runs tool searches, also the tools that its
    /// searches among the items found.
    pub(super) fn from_request(
        fields: &'a Object<'_>,
        items: &[Item],
    ) -> Result<Self, InvalidTools> {
        let mut declared = Self::default();
        let tools = definitions(fields.present("tools").unwrap_or("[]"), "tools")?;
        let own = names_outside_namespaces(&tools);
        for (path, tool) in tools {
            declared.add_any(path, tool, &own)?;
        }
        if declared.has_client_search {
            declared.add_found(client_search::found_tools(items), &own);
        }
        Ok(declared)
    }

    /// Whether a choice names a hosted tool of the request.
    pub(super) fn is_hosted(&self, choice: &Object<'_>) -> bool {
        let kind = choice.string("type").unwrap_or_default();
        self.hosted.iter().any(|tool| tool.kind == kind)
    }

    /// The name under which the model knows the tool that a choice names. The choice of a function
    /// in a namespace may leave out the namespace if no other tool has the name.
    pub(super) fn chosen_name(&self, choice: &Object<'_>) -> String {
        let name = choice.string("name").unwrap_or_default();
        if let Some(namespace) = choice.string("namespace") {
            return self.names.flatten(&namespace, &name);
        }
        let is_it =
            |tool: &DeclaredTool<'_>| tool.definition.string("name").as_ref() == Some(&name);
        if self.tools.iter().any(is_it) {
            return name.into_owned();
        }
        self.names.only_one_named(&name).map_or_else(|| name.clone().into_owned(), str::to_owned)
    }

    /// Adds the tools that searches found. Two searches can find one tool, which is sent once.
    fn add_found(&mut self, found: Vec<(String, Object<'a>)>, own: &HashSet<String>) {
        let declared = self.tools.len();
        for (path, tool) in found {
            let kind = tool.string("type").unwrap_or_default().into_owned();
            if self.add_any(path.clone(), tool, own).is_err() {
                self.hosted.push(HostedTool { path, kind, content: None });
            }
        }
        let found = self.tools.split_off(declared);
        let mut sent: HashSet<String> = self.tools.iter().filter_map(DeclaredTool::name).collect();
        for tool in found {
            let kind = tool.definition.string("type").unwrap_or_default().into_owned();
            let can_be_sent = matches!(&*kind, "function" | "custom");
            match tool.name() {
                Some(name) if can_be_sent && name != TOOL_SEARCH => {
                    if sent.insert(name) {
                        self.tools.push(DeclaredTool { is_found: true, ..tool });
                    }
                }
                _ => self.hosted.push(HostedTool { path: tool.path, kind, content: None }),
            }
        }
    }

    /// Whether a choice names the search that the client runs.
    pub(super) fn is_client_search(&self, choice: &Object<'_>) -> bool {
        self.has_client_search && choice.string("type").as_deref() == Some(TOOL_SEARCH)
    }

    fn add_any(
        &mut self,
        path: String,
        tool: Object<'a>,
        own: &HashSet<String>,
    ) -> Result<(), InvalidTools> {
        if is_namespace(&tool) {
            return self.add_namespace(&path, &tool, own);
        }
        let is_free = !own.contains(TOOL_SEARCH) && !self.has_client_search;
        if client_search::is_client_search(&tool) && is_free {
            self.has_client_search = true;
            self.add(path, client_search::into_function(tool));
        } else {
            self.add(path, tool);
        }
        Ok(())
    }

    fn add(&mut self, path: String, mut definition: Object<'a>) {
        let kind = definition.string("type").unwrap_or_default().into_owned();
        // A type with a colon is an extension of the provider that its first part names.
        if kind.contains(':') || HOSTED.iter().any(|hosted| is_version_of(&kind, hosted)) {
            let content = definition.get("content").filter(|raw| raw.starts_with('{'));
            let content = content.map(str::to_owned);
            return self.hosted.push(HostedTool { path, kind, content });
        }
        // Without the provider's search every tool is loaded from the start.
        definition.remove("defer_loading");
        self.tools.push(DeclaredTool { path, definition, is_found: false });
    }

    /// Adds the functions of a namespace. The description of the namespace comes before that of its
    /// first function.
    fn add_namespace(
        &mut self,
        path: &str,
        namespace: &Object<'_>,
        own: &HashSet<String>,
    ) -> Result<(), InvalidTools> {
        let Some(space) = text(namespace, "name") else {
            return Err(InvalidTools::Nameless(path.to_owned()));
        };
        let mut about = text(namespace, "description");
        let tools = namespace.present("tools").unwrap_or("[]");
        for (path, tool) in definitions(tools, &format!("{path}.tools"))? {
            let mut tool = tool.into_owned();
            if let Some(name) = text(&tool, "name") {
                let flat = self.names.declare(&space, &name, own);
                tool.set("name", quote(&flat));
            }
            if let Some(about) = about.take() {
                let described = text(&tool, "description").into_iter();
                let described: Vec<String> = std::iter::once(about).chain(described).collect();
                tool.set("description", quote(&described.join("\n\n")));
            }
            self.add(path, tool);
        }
        Ok(())
    }
}

/// The names of the tools outside of namespaces; empty if there are neither namespaces nor
/// searches, because nothing can take such a name then.
fn names_outside_namespaces(tools: &[(String, Object<'_>)]) -> HashSet<String> {
    let takes_name =
        |tool: &Object<'_>| is_namespace(tool) || client_search::is_client_search(tool);
    if !tools.iter().any(|(_, tool)| takes_name(tool)) {
        return HashSet::new();
    }
    tools.iter().filter_map(|(_, tool)| text(tool, "name")).collect()
}

fn is_namespace(tool: &Object<'_>) -> bool {
    tool.string("type").as_deref() == Some("namespace")
}

/// The text under `key`; `None` also for an empty one.
fn text(tool: &Object<'_>, key: &str) -> Option<String> {
    tool.string(key).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned)
}

/// The definitions of a raw array at `path`, each with its own path.
fn definitions<'a>(raw: &'a str, path: &str) -> Result<Vec<(String, Object<'a>)>, InvalidTools> {
    let raws = elements(raw).ok_or_else(|| InvalidTools::NotAnArray(path.to_owned()))?;
    let tools = raws.into_iter().enumerate().map(|(position, raw)| {
        let path = format!("{path}[{position}]");
        match Object::parse_str(raw) {
            Ok(tool) => Ok((path, tool)),
            Err(_) => Err(InvalidTools::NotAnObject(path)),
        }
    });
    tools.collect()
}

/// Whether a type is that of the tool, or of a version of it.
fn is_version_of(kind: &str, tool: &str) -> bool {
    kind.strip_prefix(tool).is_some_and(|version| version.is_empty() || version.starts_with('_'))
}
