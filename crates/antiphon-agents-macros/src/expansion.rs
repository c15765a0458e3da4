//! The code of a tool: a type that implements `Tool`, and a function that returns it. The function
//! has the name of the user's function, and not a unit struct, because no variable could have the
//! name of a unit struct.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, Generics, ItemFn, LitStr, Path, Result, ReturnType, Type, parse_quote,
};

use crate::attributes::{ApprovalRule, Attributes};
use crate::documentation;
use crate::parameters::{Arguments, Field, Parameters};

/// The function of a tool, with its attributes.
pub(crate) struct ToolFunction {
    attributes: Attributes,
    function: ItemFn,
    parameters: Parameters,
}

impl ToolFunction {
    pub(crate) fn parse(attributes: TokenStream, function: TokenStream) -> Result<Self> {
        let attributes = Attributes::parse(attributes)?;
        let mut function: ItemFn = syn::parse2(function).map_err(|error| {
            Error::new(error.span(), format!("`#[tool]` belongs on an `async fn`: {error}"))
        })?;
        check_signature(&function)?;
        let parameters = Parameters::take(&mut function.sig.inputs)?;
        if let (Some(ApprovalRule::ByCall(rule)), Arguments::None) =
            (&attributes.needs_approval, &parameters.arguments)
        {
            let problem = "the tool has no arguments, so this is `true` or `false`";
            return Err(Error::new_spanned(rule, problem));
        }
        Ok(Self { attributes, function, parameters })
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let stand_in = self.stand_in();
        let run = self.run();
        let implementation = self.implementation();
        quote!(#stand_in #run #implementation)
    }

    /// The function that stands in for the one of the user, and the type of the tool.
    fn stand_in(&self) -> TokenStream {
        let (visibility, name) = (&self.function.vis, &self.function.sig.ident);
        let tool = self.type_name();
        let documentation = self.attributes_named(&["cfg", "deprecated", "doc"]);
        let conditions = self.attributes_named(&["cfg"]);
        let summary = format!("The tool `{}`.", name.unraw());
        quote! {
            #(#documentation)*
            #visibility const fn #name() -> #tool {
                #tool { _private: () }
            }

            #(#conditions)*
            #[doc = #summary]
            #[derive(Clone, Copy, Debug)]
            #visibility struct #tool {
                _private: (),
            }
        }
    }

    /// The function itself, as the method `run`.
    fn run(&self) -> TokenStream {
        let conditions = self.attributes_named(&["cfg"]);
        let tool = self.type_name();
        let mut function = self.function.clone();
        function.sig.ident = Ident::new("run", self.function.sig.ident.span());
        function.sig.inputs.insert(0, parse_quote!(self));
        quote! {
            #(#conditions)*
            impl #tool {
                #[allow(clippy::unused_async, clippy::unused_self)]
                #function
            }
        }
    }

    /// The name of the tool's type: `FindOrderTool` for `find_order`.
    fn type_name(&self) -> Ident {
        let name = &self.function.sig.ident;
        format_ident!("{}Tool", camel_case(&name.unraw().to_string()), span = name.span())
    }

    /// The implementation of `Tool`.
    fn implementation(&self) -> TokenStream {
        let krate = self.krate();
        let conditions = self.attributes_named(&["cfg"]);
        let tool = self.type_name();
        let (arguments, declaration) = self.arguments();
        let spec = self.spec(&arguments);
        let (context, generics) = (self.context(), self.generics());
        let (generics, _, bounds) = generics.split_for_impl();
        let call = self.call(&arguments);
        let needs_approval = self.needs_approval(&arguments);
        quote! {
            #(#conditions)*
            const _: () = {
                #declaration

                impl #krate::tool::DeclaredTool for #tool {
                    fn tool() -> &'static Self {
                        &#tool { _private: () }
                    }
                }

                #[#krate::tool::__private::async_trait]
                impl #generics #krate::tool::Tool<#context> for #tool #bounds {
                    fn spec(&self) -> &#krate::tool::ToolSpec {
                        static __SPEC: ::std::sync::OnceLock<#krate::tool::ToolSpec> =
                            ::std::sync::OnceLock::new();
                        __SPEC.get_or_init(|| #spec)
                    }
                    #call
                    #needs_approval
                }
            };
        }
    }

    /// The generics of the function, with those of the implementation.
    fn generics(&self) -> Generics {
        let mut generics = self.function.sig.generics.clone();
        if self.parameters.context.is_none() {
            let context = self.context();
            let anything =
                parse_quote!(#context: ::core::marker::Send + ::core::marker::Sync + 'static);
            generics.params.push(anything);
        }
        generics
    }

    /// The type of the arguments, and its declaration if the macro makes it.
    fn arguments(&self) -> (TokenStream, TokenStream) {
        let krate = self.krate();
        match &self.parameters.arguments {
            Arguments::None => (quote!(#krate::tool::NoArguments), TokenStream::new()),
            Arguments::One { ty, .. } => (checked(ty, &krate), TokenStream::new()),
            Arguments::Fields(fields) => {
                let generic = fields.iter().filter(|field| field.is_generic());
                let generic = generic.map(|field| checked(&field.ty, &krate));
                (quote!(__Arguments<#(#generic),*>), declare(fields, &krate))
            }
        }
    }

    /// An expression of the type `ToolSpec`.
    fn spec(&self, arguments: &TokenStream) -> TokenStream {
        let krate = self.krate();
        let name = &self.function.sig.ident;
        let tool = match &self.attributes.name {
            Some(name) => name.clone(),
            None => LitStr::new(&name.unraw().to_string(), name.span()),
        };
        let description = match &self.attributes.description {
            Some(description) => description.to_token_stream(),
            None => documentation::text(&self.function.attrs).to_token_stream(),
        };
        let constructor = match &self.parameters.arguments {
            Arguments::One { name, description, .. } => {
                quote!(from_argument::<#arguments>(#name, #description))
            }
            Arguments::None | Arguments::Fields(_) => quote!(from_type::<#arguments>()),
        };
        let parameters = quote!(#krate::tool::Parameters::#constructor);
        let is_strict = self.attributes.strict.as_ref().is_none_or(|strict| strict.value);
        let not_strict = (!is_strict).then(|| quote!(.not_strict()));
        let policies = self.policies();
        quote! {{
            #[allow(unused_mut)]
            let mut spec =
                #krate::tool::ToolSpec::function(#tool, #description, #parameters #not_strict);
            #policies
            spec
        }}
    }

    /// The statements that set the policies of `spec`.
    fn policies(&self) -> TokenStream {
        let krate = self.krate();
        let Attributes { needs_approval, timeout, on_unknown, on_error, error_text, .. } =
            &self.attributes;
        let approval = match needs_approval {
            None | Some(ApprovalRule::Never) => None,
            Some(ApprovalRule::Always) => Some(quote!(Always)),
            Some(ApprovalRule::ByCall(_)) => Some(quote!(ByCall)),
        };
        let approval = approval.map(|it| quote!(spec.approval = #krate::tool::Approval::#it;));
        let timeout = timeout
            .as_ref()
            .map(|limit| quote!(spec.timeout = ::core::option::Option::Some(#limit);));
        let on_unknown = on_unknown
            .as_ref()
            .map(|policy| quote!(spec.on_unknown = #krate::tool::OnUnknownOutcome::#policy;));
        let on_error = on_error
            .as_ref()
            .map(|policy| quote!(spec.on_error = #krate::tool::OnToolError::#policy;));
        let error_text = error_text.as_ref().map(|text| {
            quote! {
                spec.error_text =
                    ::core::option::Option::Some(#krate::tool::ErrorText::new(#text));
            }
        });
        quote!(#approval #timeout #on_unknown #on_error #error_text)
    }

    /// The method `call`.
    fn call(&self, arguments: &TokenStream) -> TokenStream {
        let (krate, context) = (self.krate(), self.context());
        let passed_context =
            self.parameters.context.as_ref().map(|context| {
                if context.is_reference { quote!(&context,) } else { quote!(context,) }
            });
        let passed = match &self.parameters.arguments {
            Arguments::None => quote!(),
            Arguments::One { .. } => quote!(arguments),
            Arguments::Fields(fields) => {
                let names = fields.iter().map(|field| &field.ident);
                quote!(#(arguments.#names),*)
            }
        };
        let spec = quote!(<Self as #krate::tool::Tool<#context>>::spec(self));
        let returned = match &self.function.sig.output {
            ReturnType::Default => self.function.sig.ident.span(),
            ReturnType::Type(_, ty) => ty.span(),
        };
        let converted = quote_spanned! {returned=>
            #krate::tool::IntoToolResult::into_tool_result(result)
        };
        quote! {
            async fn call(
                &self,
                context: #krate::tool::ToolContext<#context>,
                arguments: &str,
            ) -> ::core::result::Result<#krate::tool::ToolOutput, #krate::tool::ToolError> {
                let arguments = #spec.parse::<#arguments>(arguments)?;
                let _ = &arguments;
                let result = self.run(#passed_context #passed).await;
                #converted
            }
        }
    }

    /// The method `needs_approval`, if it depends on the arguments.
    fn needs_approval(&self, arguments: &TokenStream) -> Option<TokenStream> {
        let Some(ApprovalRule::ByCall(rule)) = &self.attributes.needs_approval else { return None };
        let (krate, shared) = (self.krate(), self.context());
        let context = quote!(#krate::tool::ToolContext<#shared>);
        let (ty, values) = if ApprovalRule::takes_context(rule) {
            (quote!(fn(&#context, &#arguments) -> bool), quote!(context, &arguments))
        } else {
            (quote!(fn(&#arguments) -> bool), quote!(&arguments))
        };
        let rule = typed_rule(rule, &ty);
        Some(quote! {
            fn needs_approval(&self, context: &#context, arguments: &str) -> bool {
                let _ = context;
                #rule
                // With invalid arguments, the tool will not run.
                let spec = <Self as #krate::tool::Tool<#shared>>::spec(self);
                spec.parse::<#arguments>(arguments).is_ok_and(|arguments| rule(#values))
            }
        })
    }

    /// The type that the application shares with the tools of a run.
    fn context(&self) -> TokenStream {
        match &self.parameters.context {
            Some(context) => context.shared.to_token_stream(),
            None => format_ident!("__C", span = Span::mixed_site()).to_token_stream(),
        }
    }

    fn krate(&self) -> TokenStream {
        let path: Option<&Path> = self.attributes.krate.as_ref();
        path.map_or_else(|| quote!(::antiphon_agents), Path::to_token_stream)
    }

    fn attributes_named(&self, names: &[&str]) -> Vec<&Attribute> {
        let is_named = |it: &&Attribute| names.iter().any(|name| it.path().is_ident(name));
        self.function.attrs.iter().filter(is_named).collect()
    }
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        let problem = "a tool is an `async fn`: write `async` before `fn`";
        return Err(Error::new_spanned(signature.fn_token, problem));
    }
    let name = signature.ident.unraw().to_string();
    if !name.is_ascii() || name.len() > 64 {
        let problem = "the name of a tool has at most 64 ASCII characters: add `name = \"...\"`";
        return Err(Error::new_spanned(&signature.ident, problem));
    }
    Ok(())
}

/// The struct of the arguments. It is generic over the types of its fields, so that a derive does
/// not report a type without a schema. The attributes of a field may depend on its type.
fn declare(fields: &[Field], krate: &TokenStream) -> TokenStream {
    let reexport = |name: &str| format!("{krate}::tool::__private::{name}").replace(' ', "");
    let (serde, schemars) = (reexport("serde"), reexport("schemars"));
    let parameters: Vec<_> = (0..fields.len()).map(|index| format_ident!("__T{index}")).collect();
    let generic = fields.iter().zip(&parameters).filter(|(field, _)| field.is_generic());
    let generic: Vec<_> = generic.map(|(_, parameter)| parameter).collect();
    let fields = fields.iter().zip(&parameters).map(|(field, parameter)| {
        let Field { ident, ty, attributes } = field;
        let ty = if field.is_generic() { parameter.to_token_stream() } else { quote!(#ty) };
        quote!(#(#attributes)* #ident: #ty)
    });
    quote! {
        #[derive(
            #krate::tool::__private::serde::Deserialize,
            #krate::tool::__private::schemars::JsonSchema
        )]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        struct __Arguments<#(#generic),*> { #(#fields),* }
    }
}

/// The type of an argument; an error in its place if it has no schema.
fn checked(ty: &Type, krate: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as #krate::tool::__private::Argument>::Itself)
}

/// `find_order` as `FindOrder`.
fn camel_case(name: &str) -> String {
    let mut words = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        words.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        words.push_str(letters.as_str());
    }
    words
}

/// A variable `rule` of the function pointer type `ty`.
fn typed_rule(rule: &Expr, ty: &TokenStream) -> TokenStream {
    quote_spanned!(rule.span()=> let rule: #ty = #rule;)
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn type_has_the_words_of_the_function() {
        assert_eq!(camel_case("find_order"), "FindOrder");
        assert_eq!(camel_case("_http2__get"), "Http2Get");
    }
}
