//! The text of documentation comments.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the documentation comments among `attributes`, without the indentation that all
/// lines share.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let text = attributes.iter().filter_map(line_of).collect::<Vec<_>>().join("\n");
    let is_blank = |line: &&str| line.trim().is_empty();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let shared = text.lines().filter(|line| !is_blank(line)).map(indentation).min().unwrap_or(0);
    let lines = text.lines().map(|line| line.get(shared..).unwrap_or_default().trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The text of a documentation comment: a line, or the lines of a block.
fn line_of(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    if !meta.path.is_ident("doc") {
        return None;
    }
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::text;

    #[test]
    fn comment_keeps_its_lines_without_the_shared_indentation() {
        let function: syn::ItemFn = parse_quote! {
            /// Refunds an order.
            ///
            /// - once
            ///   only
            #[allow(dead_code)]
            async fn refund() {}
        };
        assert_eq!(text(&function.attrs), "Refunds an order.\n\n- once\n  only");
    }

    #[test]
    fn function_without_comment_has_no_text() {
        let function: syn::ItemFn = parse_quote! {
            #[doc(hidden)]
            async fn refund() {}
        };
        assert_eq!(text(&function.attrs), "");
    }
}
