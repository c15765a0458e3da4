//! Every refusal of the judge, with the provider's text, and requests that deserve none.

mod accepted;
mod contract;
mod items;
mod request;
mod shape;
