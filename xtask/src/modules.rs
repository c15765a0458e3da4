//! The top-level modules of a crate, and which of them use which, read from its source.
//!
//! Paths count wherever they stand: in `use`, in an expression, in the arguments of a macro. A name
//! that the crate's root re-exports counts as a use of the module that it comes from. Code under
//! `#[cfg(test)]` is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The modules of a crate and their imports.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) modules: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
}

/// One module uses another one of its crate.
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The file, relative to the workspace.
    pub(crate) path: String,
    pub(crate) line: usize,
}

impl Crate {
    /// Reads the crate in the directory `at` of the workspace.
    pub(crate) fn read(workspace: &Path, at: &str) -> anyhow::Result<Self> {
        let name = at.strip_prefix("crates/").unwrap_or(at).to_owned();
        let source = workspace.join(at).join("src");
        let root = ["lib.rs", "main.rs"].map(|file| source.join(file));
        let root = root.iter().find(|file| file.exists()).context("a crate has no root")?;
        let file = parse(root)?;
        let mut reader = Reader {
            workspace,
            modules: module_names(&file),
            exports: exports(&file),
            found: vec![],
        };
        for module in reader.modules.clone() {
            reader.read_module(&module, &source, std::slice::from_ref(&module))?;
        }
        Ok(Self { name, modules: reader.modules, imports: reader.found })
    }
}

fn parse(path: &Path) -> anyhow::Result<syn::File> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    syn::parse_file(&text).with_context(|| path.display().to_string())
}

fn module_names(root: &syn::File) -> BTreeSet<String> {
    let modules = root.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if !is_test(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.collect()
}

/// The names that the root re-exports, and the module of each.
fn exports(root: &syn::File) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for item in &root.items {
        if let syn::Item::Use(import) = item {
            for path in leaves(&import.tree) {
                let mut path = path.iter().filter(|it| *it != "self" && *it != "crate");
                if let (Some(module), Some(name)) = (path.next(), path.next_back()) {
                    exports.insert(name.clone(), module.clone());
                }
            }
        }
    }
    exports
}

/// The paths that a `use` names.
fn leaves(tree: &syn::UseTree) -> Vec<Vec<String>> {
    match tree {
        syn::UseTree::Path(path) => {
            let mut leaves = leaves(&path.tree);
            for leaf in &mut leaves {
                leaf.insert(0, path.ident.to_string());
            }
            leaves
        }
        syn::UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        syn::UseTree::Rename(name) => vec![vec![name.ident.to_string()]],
        syn::UseTree::Glob(_) => vec![vec!["*".to_owned()]],
        syn::UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Reads the files of one crate.
struct Reader<'a> {
    workspace: &'a Path,
    modules: BTreeSet<String>,
    exports: BTreeMap<String, String>,
    found: Vec<Import>,
}

impl Reader<'_> {
    /// Reads the module `name` of the directory `within`, and the modules that it declares.
    fn read_module(&mut self, name: &str, within: &Path, path: &[String]) -> anyhow::Result<()> {
        let directory = within.join(name);
        let files = [within.join(format!("{name}.rs")), directory.join("mod.rs")];
        let Some(file) = files.iter().find(|file| file.exists()) else {
            anyhow::bail!("{}: the module `{name}` has no file", within.display());
        };
        let parsed = parse(file)?;
        self.read_items(&parsed.items, file, &directory, path)
    }

    fn read_items(
        &mut self,
        items: &[syn::Item],
        file: &Path,
        directory: &Path,
        path: &[String],
    ) -> anyhow::Result<()> {
        let mut paths = Paths { path, found: Vec::new() };
        for item in items {
            paths.visit_item(item);
        }
        for (name, line) in paths.found {
            self.add(&name, path, file, line);
        }
        for item in items {
            let syn::Item::Mod(module) = item else { continue };
            if is_test(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let inner: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            match &module.content {
                Some((_, items)) => {
                    self.read_items(items, file, &directory.join(&name), &inner)?;
                }
                None => self.read_module(&name, directory, &inner)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, path: &[String], file: &Path, line: usize) {
        let target = match self.modules.get(name) {
            Some(module) => module,
            None => match self.exports.get(name) {
                Some(module) if self.modules.contains(module) => module,
                _ => return,
            },
        };
        if *target != path[0] {
            let file = file.strip_prefix(self.workspace).unwrap_or(file);
            self.found.push(Import {
                from: path[0].clone(),
                to: target.clone(),
                path: file.display().to_string(),
                line,
            });
        }
    }
}

/// The names in the crate's root that the items of one module use.
struct Paths<'a> {
    /// The path of the module.
    path: &'a [String],
    found: Vec<(String, usize)>,
}

impl Paths<'_> {
    /// Adds the name that `path` takes from the crate's root, if it starts there.
    fn add(&mut self, path: &[String], line: usize) {
        let upwards = path.iter().take_while(|it| *it == "super").count();
        let rest = match path.first().map(String::as_str) {
            Some("crate") => &path[1..],
            Some("super") if upwards == self.path.len() => &path[upwards..],
            _ => return,
        };
        self.found.extend(rest.first().map(|name| (name.clone(), line)));
    }

    /// Finds paths in what a macro is given.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.add(&path, line);
                        path.clear();
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.add(&path, line);
                    path.clear();
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add(&path, line);
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            // A module of its own is read by its own path.
            syn::Item::Mod(_) => return,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let line = import.use_token.span.start().line;
        for path in leaves(&import.tree) {
            self.add(&path, line);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |it| it.ident.span().start().line);
        self.add(&names, line);
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.add_tokens(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &[&str], source: &str) -> Vec<String> {
        let path: Vec<String> = path.iter().map(|&it| it.to_owned()).collect();
        let mut paths = Paths { path: &path, found: Vec::new() };
        let file = syn::parse_file(source).unwrap();
        for item in &file.items {
            paths.visit_item(item);
        }
        paths.found.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn imports_are_found_at_any_position() {
        assert_eq!(names(&["a"], "use crate::{b::{C, d}, e};"), ["b", "b", "e"]);
        assert_eq!(names(&["a"], "fn f() -> crate::b::C { crate::d::e() }"), ["b", "d"]);
        assert_eq!(names(&["a"], "fn f() { m!(g: crate::b::c(1, super::d::E)); }"), ["b", "d"]);
    }

    #[test]
    fn super_reaches_the_root_by_depth() {
        assert_eq!(names(&["a"], "use super::b;"), ["b"]);
        assert_eq!(names(&["a", "c"], "use super::b; use super::super::d::E;"), ["d"]);
    }

    #[test]
    fn test_code_is_ignored() {
        assert_eq!(
            names(&["a"], "#[cfg(test)] use crate::b; #[cfg(test)] fn f() { crate::b::c() }"),
            [""; 0]
        );
    }
}
