//! The gateway for an agent: one of its own, or one that already runs.

use antiphon::dialect::{UpstreamApi, Vendor};
use antiphon_gateway::Server;
use antiphon_gateway::settings::{Inspect, UpstreamSettings};
use http::{StatusCode, Uri};

use super::agent::{ANTHROPIC_KEY, Agent, AgentKey, Endpoint};
use super::args::RunArgs;
use crate::failure::Failure;
use crate::health;
use crate::serve;
use crate::settings::{self, Configuration};

/// The variable with a user's key for OpenAI's servers, and for those that follow it.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A gateway, and the way to it.
pub(super) struct Gateway {
    pub(super) endpoint: Endpoint,
    /// The gateway of this process. `None` if another process serves.
    pub(super) server: Option<Server>,
}

impl Gateway {
    /// Finds the gateway at `--url`, or prepares one of its own.
    pub(super) async fn open(args: &RunArgs) -> Result<Self, Failure> {
        match &args.url {
            Some(url) => Self::find(url, args).await,
            None => Self::prepare(args).await,
        }
    }

    async fn find(url: &str, args: &RunArgs) -> Result<Self, Failure> {
        let (base, uri) = health::parse_url(url)?;
        check_healthy(&base, uri).await?;
        let own = if args.agent == Agent::Claude { ANTHROPIC_KEY } else { OPENAI_KEY };
        let key = args.key.clone().map_or(AgentKey::Own(own), AgentKey::Gateway);
        let endpoint = Endpoint { base, key, model: args.model.clone() };
        Ok(Self { endpoint, server: None })
    }

    async fn prepare(args: &RunArgs) -> Result<Self, Failure> {
        let names = settings::variable_names();
        let mut configuration = settings::resolve(args.settings(), settings::environment, &names)?;
        configuration.log_warnings();
        let key = agent_key(args, &configuration)?;
        let model = args.model.clone().or_else(|| only_model(&configuration));
        if args.inspect && configuration.gateway.inspect.access == Inspect::Off {
            configuration.gateway.inspect.access = Inspect::Local;
        }
        let store = match configuration.sources.has("store") {
            true => configuration.store,
            false => "sqlite::memory:".to_owned(),
        };
        let (listener, address) = serve::bind(configuration.listen).await?;
        let server = serve::prepare(listener, configuration.gateway, &store).await?;
        let endpoint = Endpoint { base: format!("http://{address}"), key, model };
        Ok(Self { endpoint, server: Some(server) })
    }

    /// The address of the inspector.
    pub(super) fn inspector(&self) -> String {
        format!("{}/inspect/", self.endpoint.base)
    }
}

/// Claude Code and others can send only a key, in the header of their API.
fn agent_key(args: &RunArgs, configuration: &Configuration) -> Result<AgentKey, Failure> {
    let gateway = &configuration.gateway;
    if gateway.tenant_header.is_some() {
        return Err(Failure::usage(
            "callers of this gateway need the header of tenant-header, which an agent cannot send; \
             give --config with other settings",
        ));
    }
    if let Some(key) = &args.key {
        return Ok(AgentKey::Gateway(key.clone()));
    }
    if !gateway.api_keys.is_empty() {
        return Err(Failure::usage(
            "callers of this gateway need one of its api-keys; give --key KEY",
        ));
    }
    let mut forwarding = gateway.upstreams.iter().filter(|it| it.key.is_none());
    let first = forwarding.clone().next();
    // Claude Code has a login of its own, which only Anthropic's servers accept.
    let upstream = match args.agent {
        Agent::Claude => forwarding.find(|it| it.api == UpstreamApi::Anthropic).or(first),
        Agent::Codex | Agent::Opencode | Agent::Gemini => first,
    };
    Ok(upstream.map_or(AgentKey::Any, |upstream| AgentKey::Own(key_variable(upstream))))
}

/// The variable with the user's key for an upstream.
fn key_variable(upstream: &UpstreamSettings) -> &'static str {
    match upstream.api.vendor() {
        Vendor::OpenAi => OPENAI_KEY,
        Vendor::Anthropic => ANTHROPIC_KEY,
    }
}

/// Without an upstream, the gateway has one model.
fn only_model(configuration: &Configuration) -> Option<String> {
    configuration.gateway.upstreams.is_empty().then(|| antiphon_sim::NAME.to_owned())
}

async fn check_healthy(base: &str, uri: Uri) -> Result<(), Failure> {
    match health::status_of(base, uri, "/healthz").await {
        Ok(StatusCode::OK) => Ok(()),
        Ok(status) => Err(Failure::runtime(format!(
            "the server at --url is no gateway that is ready: it answers /healthz with {status}"
        ))),
        Err(reason) => Err(Failure::runtime(format!("no gateway answers at --url: {reason}"))),
    }
}
