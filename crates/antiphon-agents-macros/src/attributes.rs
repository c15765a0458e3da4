//! The attributes in `#[tool(...)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::{Error, Expr, ExprClosure, ExprLit, Lit, LitBool, LitStr, Path, Result, Token};

/// The names of all attributes.
const NAMES: [&str; 9] = [
    "crate",
    "description",
    "error_text",
    "name",
    "needs_approval",
    "on_error",
    "on_unknown",
    "strict",
    "timeout",
];

/// The parsed attributes.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    pub(crate) needs_approval: Option<ApprovalRule>,
    /// An expression of the type `Duration`.
    pub(crate) timeout: Option<TokenStream>,
    /// A variant of `OnUnknownOutcome`.
    pub(crate) on_unknown: Option<Ident>,
    /// A variant of `OnToolError`.
    pub(crate) on_error: Option<Ident>,
    /// A closure, or the path of a function.
    pub(crate) error_text: Option<Expr>,
    pub(crate) strict: Option<LitBool>,
    /// The path of `antiphon_agents`.
    pub(crate) krate: Option<Path>,
}

/// The value of `needs_approval`.
pub(crate) enum ApprovalRule {
    Always,
    Never,
    /// A closure, or the path of a function.
    ByCall(Box<Expr>),
}

impl Attributes {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut attributes = Self::default();
        let mut given = Vec::new();
        syn::meta::parser(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let Some(&name) = NAMES.iter().find(|known| **known == name) else {
                return Err(meta.error(unknown(&meta.path)));
            };
            if given.contains(&name) {
                return Err(meta.error(format!("`{name}` is given twice")));
            }
            given.push(name);
            attributes.set(name, &meta)
        })
        .parse2(tokens)?;
        Ok(attributes)
    }

    fn set(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match name {
            "crate" => self.krate = Some(meta.value()?.call(Path::parse_mod_style)?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "error_text" => self.error_text = Some(meta.value()?.parse()?),
            "name" => self.name = Some(tool_name(meta.value()?.parse()?)?),
            "needs_approval" => self.needs_approval = Some(approval_rule(meta)?),
            "on_error" => self.on_error = Some(variant(meta, &["Output", "EndRun"])?),
            "on_unknown" => self.on_unknown = Some(variant(meta, &["Retry", "Ask", "Fail"])?),
            "strict" => self.strict = Some(meta.value()?.parse()?),
            _ => self.timeout = Some(timeout(meta.value()?.parse()?)?),
        }
        Ok(())
    }
}

fn unknown(path: &Path) -> String {
    let names: Vec<_> = NAMES.iter().map(|name| format!("`{name}`")).collect();
    let path = path.to_token_stream().to_string().replace(' ', "");
    format!("`{path}` is not an attribute of a tool; the attributes are {}", names.join(", "))
}

/// The name of a tool, as the API allows it.
fn tool_name(name: LitStr) -> Result<LitStr> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let text = name.value();
    if (1..=64).contains(&text.len()) && text.bytes().all(is_allowed) {
        Ok(name)
    } else {
        let problem = "the name of a tool has 1 to 64 letters, digits, `_` and `-`";
        Err(Error::new(name.span(), problem))
    }
}

fn approval_rule(meta: &ParseNestedMeta<'_>) -> Result<ApprovalRule> {
    if !meta.input.peek(Token![=]) {
        return Ok(ApprovalRule::Always);
    }
    match meta.value()?.parse()? {
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) if value.value => Ok(ApprovalRule::Always),
        Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }) => Ok(ApprovalRule::Never),
        rule @ (Expr::Closure(_) | Expr::Path(_)) => Ok(ApprovalRule::ByCall(Box::new(rule))),
        other => Err(Error::new_spanned(
            other,
            "expected `true`, `false`, or a closure: `|args| args.cents > 5_000`",
        )),
    }
}

impl ApprovalRule {
    /// Whether the rule also takes the context: a closure with two parameters.
    pub(crate) fn takes_context(rule: &Expr) -> bool {
        matches!(rule, Expr::Closure(ExprClosure { inputs, .. }) if inputs.len() == 2)
    }
}

/// One of the variants of a policy.
fn variant(meta: &ParseNestedMeta<'_>, variants: &[&str]) -> Result<Ident> {
    let value: Expr = meta.value()?.parse()?;
    let ident = match &value {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    if let Some(ident) = ident.filter(|ident| variants.iter().any(|variant| ident == variant)) {
        return Ok(ident.clone());
    }
    let names: Vec<_> = variants.iter().map(|name| format!("`{name}`")).collect();
    Err(Error::new_spanned(value, format!("expected one of {}", names.join(", "))))
}

/// A timeout: a text such as `"5s"`, or any expression of the type `Duration`.
fn timeout(value: Expr) -> Result<TokenStream> {
    let Expr::Lit(ExprLit { lit, .. }) = &value else { return Ok(value.into_token_stream()) };
    let milliseconds = match lit {
        Lit::Str(text) => milliseconds(&text.value()),
        _ => None,
    };
    match milliseconds {
        Some(milliseconds) => Ok(quote!(::core::time::Duration::from_millis(#milliseconds))),
        None => Err(Error::new_spanned(
            value,
            "expected a time above zero in ms, s, m or h, such as `\"5s\"`, or a `Duration`",
        )),
    }
}

fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|it| *it > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_a_unit() {
        assert_eq!(milliseconds("250ms"), Some(250));
        assert_eq!(milliseconds("5s"), Some(5_000));
        assert_eq!(milliseconds("2 m"), Some(120_000));
        assert_eq!(milliseconds("1h"), Some(3_600_000));
        for invalid in ["", "5", "s", "5 days", "-5s", "0s", "1.5s", "99999999999999999999s"] {
            assert_eq!(milliseconds(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn closure_with_two_parameters_takes_the_context() {
        let rule = |text: &str| ApprovalRule::takes_context(&syn::parse_str(text).unwrap());
        assert!(rule("|cx, args| cx.context().is_strict && args.cents > 5"));
        assert!(!rule("|args| args.cents > 5"));
        assert!(!rule("is_large"));
    }
}
