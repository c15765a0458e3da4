//! The names of attributes.
//!
//! Sources: OpenTelemetry's semantic conventions 1.43 for HTTP and errors, and those for generative
//! AI, version 0.1.0 (<https://github.com/open-telemetry/semantic-conventions-genai>), which are
//! still in development. `antiphon.*` are ours. docs/tracing.md lists all of them; a test compares
//! it with the exported spans.

pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const SERVER_ADDRESS: &str = "server.address";
pub(crate) const SERVER_PORT: &str = "server.port";
pub(crate) const URL_FULL: &str = "url.full";
pub(crate) const URL_PATH: &str = "url.path";
pub(crate) const USER_AGENT: &str = "user_agent.original";

pub(crate) const HTTP_METHOD: &str = "http.request.method";
pub(crate) const HTTP_RESEND_COUNT: &str = "http.request.resend_count";
pub(crate) const HTTP_ROUTE: &str = "http.route";
pub(crate) const HTTP_STATUS: &str = "http.response.status_code";
pub(crate) const HTTP_UPSTREAM_REQUEST_ID: &str = "http.response.header.x-request-id";
pub(crate) const NETWORK_PROTOCOL: &str = "network.protocol.name";

pub(crate) const CONVERSATION_COMPACTED: &str = "gen_ai.conversation.compacted";
pub(crate) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(crate) const OPERATION_NAME: &str = "gen_ai.operation.name";
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(crate) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(crate) const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub(crate) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const REQUEST_PREVIOUS_RESPONSE: &str = "gen_ai.request.previous_response.id";
pub(crate) const REQUEST_REASONING_LEVEL: &str = "gen_ai.request.reasoning.level";
pub(crate) const REQUEST_STREAM: &str = "gen_ai.request.stream";
pub(crate) const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub(crate) const REQUEST_TOP_P: &str = "gen_ai.request.top_p";
pub(crate) const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(crate) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(crate) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(crate) const RESPONSE_TIME_TO_FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(crate) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(crate) const USAGE_CACHE_READ: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const USAGE_CACHE_WRITE: &str = "gen_ai.usage.cache_write.input_tokens";
pub(crate) const USAGE_INPUT: &str = "gen_ai.usage.input_tokens";
pub(crate) const USAGE_OUTPUT: &str = "gen_ai.usage.output_tokens";
pub(crate) const USAGE_REASONING: &str = "gen_ai.usage.reasoning.output_tokens";

pub(crate) const CONNECTION: &str = "antiphon.connection";
pub(crate) const ITEMS_KNOWN: &str = "antiphon.items.known";
pub(crate) const ITEMS_NEW: &str = "antiphon.items.new";
pub(crate) const ITEMS_OMITTED: &str = "antiphon.items.omitted";
pub(crate) const ITEMS_OUTPUT: &str = "antiphon.items.output";
pub(crate) const ITEMS_RECEIVED: &str = "antiphon.items.received";
pub(crate) const ITEMS_REPAIRED: &str = "antiphon.items.repaired";
pub(crate) const ITEMS_SENT: &str = "antiphon.items.sent";
pub(crate) const ITEMS_TRUNCATED: &str = "antiphon.items.truncated";
pub(crate) const MODEL: &str = "antiphon.model";
pub(crate) const REPAIRS: &str = "antiphon.repairs";
pub(crate) const REQUEST_ID: &str = "antiphon.request.id";
pub(crate) const RETRIES: &str = "antiphon.retries";
pub(crate) const STORED: &str = "antiphon.stored";
pub(crate) const STREAMED: &str = "antiphon.streamed";
pub(crate) const TENANT: &str = "antiphon.tenant";
pub(crate) const TURN_OUTCOME: &str = "antiphon.turn.outcome";
pub(crate) const UPSTREAM: &str = "antiphon.upstream";
pub(crate) const WAIT_MS: &str = "antiphon.wait_ms";
