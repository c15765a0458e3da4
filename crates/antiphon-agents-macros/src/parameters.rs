//! The parameters of a tool's function: the context, and the arguments of the model.

use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, PathSegment,
    Result, Token, Type, parse_quote,
};

/// The parameters of a tool's function.
pub(crate) struct Parameters {
    pub(crate) context: Option<Context>,
    pub(crate) arguments: Arguments,
}

/// The parameter with the context of the call.
pub(crate) struct Context {
    /// The `C` of `ToolContext<C>`.
    pub(crate) shared: Type,
    pub(crate) is_reference: bool,
}

/// The parameters that the model provides.
pub(crate) enum Arguments {
    None,
    /// A struct of all arguments, or the only argument.
    One {
        name: String,
        description: String,
        ty: Box<Type>,
    },
    /// A field for each parameter.
    Fields(Vec<Field>),
}

/// A parameter that becomes a field of the arguments.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Documentation, and the attributes of Serde and schemars.
    pub(crate) attributes: Vec<Attribute>,
}

impl Parameters {
    /// Reads the parameters, and removes the attributes that belong to the fields.
    pub(crate) fn take(inputs: &mut Punctuated<FnArg, Token![,]>) -> Result<Self> {
        let mut inputs = inputs.iter_mut().map(typed).collect::<Result<Vec<_>>>()?;
        let context = match inputs.first() {
            Some(first) => Context::parse(&first.ty)?,
            None => None,
        };
        let arguments = inputs.split_off(usize::from(context.is_some()));
        arguments.iter().try_for_each(|argument| check_owned(&argument.ty))?;
        Ok(Self { context, arguments: Arguments::take(arguments)? })
    }
}

fn typed(input: &mut FnArg) -> Result<&mut PatType> {
    match input {
        FnArg::Typed(typed) => Ok(typed),
        FnArg::Receiver(receiver) => Err(Error::new_spanned(
            receiver,
            "a tool is a function without `self`: share values with `cx: &ToolContext<C>`",
        )),
    }
}

impl Context {
    /// The context, if `ty` is a reference or a `ToolContext`.
    fn parse(ty: &Type) -> Result<Option<Self>> {
        let (inner, is_reference) = match ty {
            Type::Reference(reference) if is_text_or_slice(&reference.elem) => return Ok(None),
            Type::Reference(reference) => (&*reference.elem, true),
            owned => (owned, false),
        };
        let shared = match tool_context(inner) {
            Some(segment) => shared_type(segment),
            None if is_reference => return Err(not_the_context(ty, inner)),
            None => return Ok(None),
        };
        match ty {
            Type::Reference(reference) if reference.mutability.is_some() => {
                Err(Error::new_spanned(
                    ty,
                    "the context is shared with other calls: use `&ToolContext<C>`",
                ))
            }
            _ => Ok(Some(Self { shared, is_reference })),
        }
    }
}

/// The `C` of `ToolContext<C>`, which is `()` by default.
fn shared_type(segment: &PathSegment) -> Type {
    let first = match &segment.arguments {
        PathArguments::AngleBracketed(generics) => generics.args.first(),
        _ => None,
    };
    match first {
        Some(GenericArgument::Type(shared)) => shared.clone(),
        _ => parse_quote!(()),
    }
}

fn not_the_context(ty: &Type, inner: &Type) -> Error {
    let name = inner.to_token_stream().to_string().replace(' ', "");
    let problem = format!(
        "`{name}` is not the context of a tool: write `&ToolContext<{name}>` if all tools of the \
         agent share it, or `{name}` if it is an argument"
    );
    Error::new_spanned(ty, problem)
}

/// The last segment of a path to `ToolContext`.
fn tool_context(ty: &Type) -> Option<&PathSegment> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().filter(|segment| segment.ident == "ToolContext")
}

fn is_text_or_slice(ty: &Type) -> bool {
    matches!(ty, Type::Slice(_)) || matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

fn check_owned(ty: &Type) -> Result<()> {
    let problem = match ty {
        Type::Reference(reference) if tool_context(&reference.elem).is_some() => {
            "the context is the first parameter of a tool"
        }
        ty if tool_context(ty).is_some() => "the context is the first parameter of a tool",
        Type::Reference(reference) if is_text_or_slice(&reference.elem) => {
            "an argument of a tool is owned: use `String` or `Vec`"
        }
        Type::Reference(_) => {
            "an argument of a tool is owned; only the first parameter, the context, is a reference"
        }
        Type::ImplTrait(_) => "an argument of a tool has a type with a name",
        _ => return Ok(()),
    };
    Err(Error::new_spanned(ty, problem))
}

impl Arguments {
    fn take(mut inputs: Vec<&mut PatType>) -> Result<Self> {
        match inputs.as_mut_slice() {
            [] => Ok(Self::None),
            [one] if !one.attrs.iter().any(is_field_attribute) => {
                let attributes = std::mem::take(&mut one.attrs);
                let name = match &*one.pat {
                    Pat::Ident(pattern) => pattern.ident.unraw().to_string(),
                    _ => "arguments".to_owned(),
                };
                let description = crate::documentation::text(&attributes);
                Ok(Self::One { name, description, ty: one.ty.clone() })
            }
            several => {
                let fields = several.iter_mut().map(|input| Field::take(input));
                fields.collect::<Result<_>>().map(Self::Fields)
            }
        }
    }
}

impl Field {
    fn take(input: &mut PatType) -> Result<Self> {
        let ident = match &*input.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => pattern.ident.clone(),
            Pat::Struct(_) | Pat::TupleStruct(_) => {
                return Err(Error::new_spanned(
                    &input.pat,
                    "a tool has one struct of arguments, or several parameters with names, which \
                     become the fields of its arguments: put the fields of both structs in one, \
                     or give this parameter a name",
                ));
            }
            other => {
                return Err(Error::new_spanned(
                    other,
                    "a parameter needs a name, by which the model provides its value",
                ));
            }
        };
        let attributes = std::mem::take(&mut input.attrs);
        Ok(Self { ident, ty: (*input.ty).clone(), attributes })
    }

    /// Whether the struct of the arguments is generic over the type of this field.
    pub(crate) fn is_generic(&self) -> bool {
        !self.attributes.iter().any(is_field_attribute)
    }
}

/// Whether the attribute belongs to a field of a struct.
fn is_field_attribute(attribute: &Attribute) -> bool {
    ["serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}
