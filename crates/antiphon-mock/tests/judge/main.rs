//! Every refusal of the Responses judge, with the provider's text, and requests that pass.

mod accepted;
mod contract;
mod items;
mod kinds;
mod request;
mod shape;
