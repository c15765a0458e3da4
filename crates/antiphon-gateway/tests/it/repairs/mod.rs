//! What a provider would refuse: mended in what is sent, or refused in the provider's words.

mod calls;
mod ids;
mod missing_call_ids;
mod outputs;
mod reasoning;
mod strict;
