//! The macro `#[tool]` of `antiphon-agents`, which documents and re-exports it.

mod attributes;
mod documentation;
mod expansion;
mod parameters;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{FnArg, ItemFn};

use expansion::ToolFunction;

/// Makes a tool from an `async fn`; see `antiphon_agents::tool::tool`.
#[proc_macro_attribute]
pub fn tool(
    attributes: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let function = TokenStream::from(function);
    let tool = match ToolFunction::parse(attributes.into(), function.clone()) {
        Ok(tool) => tool.expand(),
        Err(error) => {
            let (error, function) = (error.to_compile_error(), plain(function));
            quote!(#error #function)
        }
    };
    tool.into()
}

/// The function without the attributes that only the macro allows. After an error, it keeps the
/// compiler from reporting that the function does not exist.
fn plain(function: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<ItemFn>(function.clone()) else { return function };
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(input) = input {
            input.attrs.clear();
        }
    }
    function.into_token_stream()
}
