//! The layers of each crate: a module uses only the modules below it.
//!
//! ARCHITECTURE.md lists them below [`SECTION`], one crate in each indented line: its name, then
//! its top-level modules from the highest layer to the lowest, with `>` between two layers. A line
//! that is indented further continues the line before it. Modules of one layer do not use each
//! other, so the list has no cycle. Tests may use everything. Every crate with modules must be
//! listed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

use crate::modules::Crate;
use crate::workspace::Workspace;

const DOCUMENT: &str = "ARCHITECTURE.md";
const SECTION: &str = "## Layers";
const INDENT: &str = "    ";

/// The faults of all crates, each as `path:line: sentence`.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let path = workspace.root.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).context(DOCUMENT)?;
    let documented = Layers::parse(&text);
    let mut faults = Vec::new();
    for root in crate_roots(&workspace.root)? {
        let code = Crate::read(&workspace.root, &root)?;
        faults.extend(check_crate(&documented, &code));
    }
    Ok(faults)
}

fn check_crate(documented: &BTreeMap<&str, Layers>, code: &Crate) -> Vec<String> {
    match documented.get(&*code.name) {
        Some(layers) => layers.check(code),
        None if code.modules.is_empty() => Vec::new(),
        None => vec![format!("{DOCUMENT}:1: lists no layers of the crate `{}`", code.name)],
    }
}

/// The directories of the workspace's crates.
fn crate_roots(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut roots = vec!["xtask".to_owned()];
    for group in ["bindings", "crates"] {
        for entry in std::fs::read_dir(root.join(group)).context(group)? {
            roots.push(format!("{group}/{}", entry?.file_name().to_string_lossy()));
        }
    }
    roots.retain(|it| root.join(it).join("src").is_dir());
    roots.sort();
    Ok(roots)
}

/// The layer of each module of a crate, counted from the top.
#[derive(Debug, Default, PartialEq, Eq)]
struct Layers {
    layers: BTreeMap<String, usize>,
}

impl Layers {
    /// The layers of each crate, by its name.
    fn parse(text: &str) -> BTreeMap<&str, Self> {
        let mut crates: BTreeMap<&str, Self> = BTreeMap::new();
        let (mut current, mut layer) = ("", 0);
        let section = text.lines().skip_while(|line| *line != SECTION).skip(1);
        for line in section.take_while(|line| !line.starts_with("## ")) {
            let Some(listed) = line.strip_prefix(INDENT) else { continue };
            let mut words = listed.split_whitespace();
            if !listed.starts_with(' ') {
                (current, layer) = (words.next().unwrap_or_default(), 0);
            }
            for word in words {
                match word {
                    ">" => layer += 1,
                    module => {
                        let layers = &mut crates.entry(current).or_default().layers;
                        layers.insert(module.to_owned(), layer);
                    }
                }
            }
        }
        crates
    }

    fn check(&self, code: &Crate) -> Vec<String> {
        let mut faults = Vec::new();
        for module in code.modules.iter().filter(|it| !self.layers.contains_key(*it)) {
            faults.push(format!("{DOCUMENT}:1: lists no layer of `{}::{module}`", code.name));
        }
        for module in self.layers.keys().filter(|it| !code.modules.contains(*it)) {
            faults.push(format!("{DOCUMENT}:1: `{}` has no module `{module}`", code.name));
        }
        for import in &code.imports {
            let layer = |module: &str| self.layers.get(module);
            if let (Some(from), Some(to)) = (layer(&import.from), layer(&import.to))
                && from >= to
            {
                faults.push(format!(
                    "{}:{}: `{}` uses `{}`, which {DOCUMENT} lists in the same layer or above",
                    import.path, import.line, import.from, import.to
                ));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Import;

    const TEXT: &str = "# Map\n\n    not a layer\n\n## Layers\n\nText.\n\n    one  top side\n\
                        \x20        > base\n    two  other\n\n## Next\n\n    ignored\n";

    fn code(imports: &[(&str, &str)]) -> Crate {
        let import = |(from, to): &(&str, &str)| Import {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            path: format!("src/{from}.rs"),
            line: 7,
        };
        Crate {
            name: "one".to_owned(),
            modules: ["top", "side", "base"].map(str::to_owned).into(),
            imports: imports.iter().map(import).collect(),
        }
    }

    #[test]
    fn layers_are_parsed_by_crate() {
        let crates = Layers::parse(TEXT);

        assert_eq!(crates.keys().copied().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(crates["one"].layers["top"], crates["one"].layers["side"]);
        assert!(crates["one"].layers["side"] < crates["one"].layers["base"]);
    }

    #[test]
    fn downward_import_is_accepted() {
        let layers = &Layers::parse(TEXT)["one"];

        assert_eq!(layers.check(&code(&[("top", "base"), ("side", "base")])), [""; 0]);
    }

    #[test]
    fn upward_and_sideward_imports_are_faults() {
        let layers = &Layers::parse(TEXT)["one"];

        let faults = layers.check(&code(&[("base", "top"), ("top", "side")]));

        assert_eq!(faults.len(), 2);
        assert!(faults[0].starts_with("src/base.rs:7: `base` uses `top`"), "{faults:?}");
    }

    #[test]
    fn unlisted_crate_is_a_fault() {
        let mut code = Crate { name: "three".to_owned(), ..code(&[]) };

        let faults = check_crate(&Layers::parse(TEXT), &code);
        assert_eq!(faults, ["ARCHITECTURE.md:1: lists no layers of the crate `three`"]);

        code.modules.clear();
        assert_eq!(check_crate(&Layers::parse(TEXT), &code), [""; 0]);
    }

    #[test]
    fn unlisted_and_missing_modules_are_faults() {
        let layers = &Layers::parse("## Layers\n\n    one  top side > gone\n")["one"];

        let faults = layers.check(&code(&[]));

        assert_eq!(
            faults,
            [
                "ARCHITECTURE.md:1: lists no layer of `one::base`",
                "ARCHITECTURE.md:1: `one` has no module `gone`",
            ]
        );
    }
}
