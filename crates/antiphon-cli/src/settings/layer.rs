//! Layers of settings and their precedence.

use std::collections::BTreeMap;
use std::fmt;

use super::args::ServeArgs;
use super::setting::Setting;
use crate::failure::Failure;

/// The settings that one source contains: the command line, the environment or the file.
#[derive(Default)]
pub(super) struct Layer(BTreeMap<Setting, Vec<Said>>);

impl Layer {
    pub(super) fn say(&mut self, setting: Setting, said: Said) {
        self.0.entry(setting).or_default().push(said);
    }
}

/// The command line as a layer.
impl From<ServeArgs> for Layer {
    fn from(args: ServeArgs) -> Self {
        let single = [
            (Setting::Listen, args.listen),
            (Setting::Store, args.store),
            (Setting::Upstream, args.upstream),
            (Setting::UpstreamApi, args.upstream_api),
            (Setting::UpstreamKey, args.upstream_key),
            (Setting::State, args.state),
            (Setting::Ledger, args.ledger),
            (Setting::Faults, args.faults),
            (Setting::TenantHeader, args.tenant_header),
            (Setting::TurnWait, args.turn_wait),
            (Setting::OnDisconnect, args.on_disconnect),
            (Setting::EventNames, args.event_names),
            (Setting::Retention, args.retention),
            (Setting::ShutdownGrace, args.shutdown_grace),
            (Setting::MaxOpenTurns, args.max_open_turns),
            (Setting::RequestsPerSecond, args.requests_per_second),
            (Setting::MaxTenantBytes, args.max_tenant_bytes),
            (Setting::MaxTenantItems, args.max_tenant_items),
            (Setting::MaxConversationBytes, args.max_conversation_bytes),
            (Setting::MaxConversationItems, args.max_conversation_items),
            (Setting::PassThrough, args.pass_through),
        ];
        let single = single.into_iter().filter_map(|(setting, text)| Some((setting, text?)));
        let lists = [
            (Setting::ApiKeys, args.api_key),
            (Setting::AllowOrigins, args.allow_origin),
            (Setting::AllowHosts, args.allow_host),
            (Setting::Secrets, args.secret),
        ];
        let entries = lists
            .into_iter()
            .flat_map(|(setting, texts)| texts.into_iter().map(move |text| (setting, text)));
        let mut layer = Self::default();
        for (setting, text) in single.chain(entries) {
            layer.say(setting, Said { text, place: Place::Named(setting.flag()) });
        }
        layer
    }
}

/// The text of a setting and its place.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) place: Place,
}

impl Said {
    /// The text without surrounding blanks.
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }

    /// A usage error for this setting, with its place.
    pub(super) fn refused(&self, sentence: impl fmt::Display) -> Failure {
        Failure::usage(format!("{}: {sentence}", self.place))
    }
}

/// The source of a text.
pub(super) enum Place {
    /// The flag or the environment variable of this name.
    Named(String),
    /// A line of a file.
    Line { file: String, line: usize, key: &'static str },
}

impl Place {
    /// Whether the place is an environment variable.
    pub(super) fn is_variable(&self) -> bool {
        matches!(self, Self::Named(name) if !name.starts_with('-'))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Line { file, line, key } => write!(f, "{file}:{line}: {key}"),
        }
    }
}

/// The command line, the environment and the file. The first layer that contains a setting decides
/// it.
pub(super) struct Layers(pub(super) [Layer; 3]);

impl Layers {
    /// The value of `setting`, parsed with `parse`; `None` if no layer contains it.
    pub(super) fn one<T>(
        &self,
        setting: Setting,
        parse: impl Fn(&Said) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.all(setting).first().map(parse).transpose()
    }

    /// All values of `setting` in the deciding layer. Layers do not add to one another.
    pub(super) fn all(&self, setting: Setting) -> &[Said] {
        self.0.iter().find_map(|layer| layer.0.get(&setting)).map_or(&[], Vec::as_slice)
    }
}
