//! The values as text.

use std::fmt::Write as _;

use antiphon_gateway::inspect::model::{
    Card, ConversationPage, ConversationState, ConversationView, Cost, Fate, Lane, Live, Owner,
    Summary, ThreadKind, Tokens, TurnView,
};

use super::style::{Color, Style, visible};
use super::time::utc;

/// Writes values for a terminal.
pub(super) struct Printer {
    style: Style,
    text: String,
}

impl Printer {
    pub(super) fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// The text so far.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, indent: usize, parts: &[String]) {
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        writeln!(self.text, "{:indent$}{}", "", parts.join("  ")).expect("a string takes all text");
    }

    fn paint(&self, color: Color, text: &str) -> String {
        self.style.paint(color, text)
    }

    /// A list of conversations: two lines for each.
    pub(super) fn page(&mut self, page: &ConversationPage) {
        for summary in &page.data {
            self.summary(summary);
        }
        if page.data.is_empty() {
            self.line(0, &["no conversations".to_owned()]);
        }
        if page.is_cut {
            let note = "more conversations exist than one list examines";
            self.line(0, &[self.paint(Color::Dim, note)]);
        }
    }

    fn summary(&mut self, summary: &Summary) {
        let first = [
            self.paint(Color::Bold, &summary.id),
            self.state(&summary.state),
            summary.last_turn_at.map_or_else(String::new, utc),
            counted(summary.turns as u64, "turn"),
            counted(summary.items, "item"),
            bytes(summary.bytes),
            tokens(summary.tokens),
            summary.cost.as_ref().map_or_else(String::new, cost),
            if summary.owner == Owner::Upstream { "at the upstream".into() } else { String::new() },
            if summary.kind == ThreadKind::Chain { "chain".into() } else { String::new() },
        ];
        self.line(0, &first);
        let title = summary.title.as_deref().map(|title| format!("\"{}\"", visible(title)));
        let metadata = summary.metadata.iter();
        let metadata: Vec<String> =
            metadata.map(|(key, value)| format!("{}={}", visible(key), visible(value))).collect();
        let repairs = summary.last_repaired.as_ref().map(|last| {
            let faults = last.faults.iter();
            let faults: Vec<String> =
                faults.map(|(fault, count)| format!("{}={count}", visible(fault))).collect();
            let (turns, all) = (summary.repaired_turns, summary.counted_turns);
            let faults = faults.join(", ");
            let at = utc(last.created_at);
            self.paint(
                Color::Yellow,
                &format!("repaired in {turns} of {all} turns, last {at}: {faults}"),
            )
        });
        let repairs = repairs.unwrap_or_default();
        let second = [title.unwrap_or_default(), metadata.join(" "), repairs];
        if second.iter().any(|part| !part.is_empty()) {
            self.line(4, &second);
        }
        if let ConversationState::Poisoned { item, message, .. } = &summary.state {
            let message = format!("{}: {}", visible(item), visible(message));
            self.line(4, &[self.paint(Color::Red, &message)]);
        }
    }

    fn state(&self, state: &ConversationState) -> String {
        match state {
            ConversationState::Healthy => self.paint(Color::Green, "healthy"),
            ConversationState::OpenTurn { .. } => self.paint(Color::Blue, "open turn"),
            ConversationState::Waiting { calls } => {
                self.paint(Color::Yellow, &format!("waiting for {}", calls.join(", ")))
            }
            ConversationState::Poisoned { fault, .. } => {
                self.paint(Color::Red, &format!("poisoned: {fault}"))
            }
            ConversationState::Stale => self.paint(Color::Yellow, "stale"),
            ConversationState::Unchecked => self.paint(Color::Dim, "not checked"),
        }
    }

    /// A conversation, and its turns with their lanes.
    pub(super) fn view(&mut self, view: &ConversationView) {
        self.summary(&view.summary);
        self.live(&view.live);
        for turn in &view.turns {
            self.turn(turn);
        }
        let forks = view.tree.iter().filter(|turn| !turn.shown);
        for fork in forks {
            let parent = fork.parent.as_deref().unwrap_or("the start");
            let line = format!("fork {} after {}", visible(&fork.response), visible(parent));
            self.line(0, &[self.paint(Color::Dim, &line)]);
        }
    }

    fn live(&mut self, live: &Live) {
        if !live.leased {
            return;
        }
        let parts = [
            self.paint(Color::Blue, "a turn is open"),
            live.response.as_deref().map(visible).unwrap_or_default(),
            if live.background { "in the background".into() } else { String::new() },
            match live.queued {
                0 => String::new(),
                queued => format!("{queued} waiting"),
            },
        ];
        self.line(0, &parts);
    }

    /// A turn with its four lanes.
    pub(super) fn turn(&mut self, turn: &TurnView) {
        let status = match &*turn.status {
            "completed" => Color::Green,
            "in_progress" | "queued" => Color::Blue,
            _ => Color::Red,
        };
        let head = [
            self.paint(Color::Bold, &turn.id),
            self.paint(status, &turn.status),
            utc(turn.created_at),
            visible(&turn.model),
            turn.tokens.map_or_else(String::new, tokens),
            turn.cost.as_ref().map_or_else(String::new, cost),
        ];
        self.line(0, &head);
        if let Some(error) = &turn.error {
            let error = format!("{}: {}", visible(&error.code), visible(&error.message));
            self.line(2, &[self.paint(Color::Red, &error)]);
        }
        self.lane("received", &turn.received);
        self.lane("stored before", &turn.stored_before);
        self.lane("sent to the model", &turn.sent);
        self.lane("returned", &turn.returned);
    }

    fn lane(&mut self, name: &str, lane: &Lane) {
        let shown = lane.cards.len();
        let rest = match lane.items.saturating_sub(shown) {
            0 => String::new(),
            rest => format!("{rest} more"),
        };
        let exact = if lane.exact { "" } else { "changed since, or by repairs" };
        let head = [
            name.to_owned(),
            counted(lane.items as u64, "item"),
            bytes(lane.bytes),
            rest,
            exact.into(),
        ];
        self.line(2, &head);
        for card in &lane.cards {
            self.card(card);
        }
    }

    fn card(&mut self, card: &Card) {
        let kind = [Some(&card.kind), card.role.as_ref()].into_iter().flatten();
        let kind: Vec<String> = kind.map(|part| visible(part)).collect();
        let text = card.text.as_deref().map(|text| format!("\"{}\"", visible(text)));
        let parts = [
            kind.join(" "),
            card.id.as_deref().map(visible).unwrap_or_default(),
            card.call_id.as_deref().map(visible).unwrap_or_default(),
            text.unwrap_or_default(),
        ];
        self.line(4, &parts);
        for fate in &card.fates {
            let (color, words) = fate_words(fate);
            self.line(6, &[self.paint(color, &words)]);
        }
    }
}

/// The color and the words of a fate.
fn fate_words(fate: &Fate) -> (Color, String) {
    match fate {
        Fate::New => (Color::Green, "new".into()),
        Fate::Known { rule, differs: false } => (Color::Dim, format!("stored before: {rule}")),
        Fate::Known { rule, differs: true } => {
            (Color::Yellow, format!("stored before with another content: {rule}"))
        }
        Fate::Repaired { fault, action, message } => {
            (Color::Yellow, format!("repaired: {fault}, {action}. {message}"))
        }
        Fate::LeftOut { fault, message } => (Color::Red, format!("left out: {fault}. {message}")),
        Fate::Placeholder { fault, message } => {
            (Color::Yellow, format!("placeholder: {fault}. {message}"))
        }
        Fate::Deleted => (Color::Dim, "deleted".into()),
        Fate::Compacted => (Color::Dim, "replaced by a compaction".into()),
        Fate::Truncated => (Color::Yellow, "cut: the prompt was too long".into()),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

fn tokens(tokens: Tokens) -> String {
    let Tokens { input, cached, output, .. } = tokens;
    let cached = if cached == 0 { String::new() } else { format!(" ({cached} cached)") };
    format!("{input}{cached} + {output} tokens")
}

fn cost(cost: &Cost) -> String {
    let currency = cost.currency.as_deref().map(visible).unwrap_or_default();
    format!("{} {currency}", cost.amount).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!(
            (bytes(999), bytes(1500), bytes(2_340_000)),
            ("999 B".into(), "1.5 kB".into(), "2.3 MB".into())
        );
        assert_eq!((counted(1, "turn"), counted(0, "item")), ("1 turn".into(), "0 items".into()));
        let used = Tokens { input: 10, cached: 4, output: 2, reasoning: 0 };
        assert_eq!(tokens(used), "10 (4 cached) + 2 tokens");
    }
}
