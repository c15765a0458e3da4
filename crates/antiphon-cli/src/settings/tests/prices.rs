use antiphon_gateway::settings::{Price, Prices};

use super::*;

fn prices(text: &str) -> Prices {
    of_file(text).unwrap().gateway.prices
}

#[test]
fn prices_are_read_for_each_model() {
    let given = prices(
        "[prices]\n\
         currency = 'USD'\n\
         [prices.'gpt-5']\n\
         input = 1.25\n\
         cached-input = 0.125\n\
         output = 10\n\
         [prices.'claude-*']\n\
         input = 3\n\
         cache-write = 3.75\n\
         output = 15.0\n",
    );
    let price = |model, input, output| {
        let model = ModelPattern::new(model);
        Price { model, input, cached_input: None, cache_write: None, output }
    };
    let gpt = Price { cached_input: Some(0.125), ..price("gpt-5", 1.25, 10.0) };
    let claude = Price { cache_write: Some(3.75), ..price("claude-*", 3.0, 15.0) };
    assert_eq!(given.currency.as_deref(), Some("USD"));
    assert_eq!(given.models.len(), 2);
    assert!(given.models.contains(&gpt) && given.models.contains(&claude), "{given:?}");
}

#[test]
fn nothing_has_a_price_by_default() {
    assert_eq!(prices(""), Prices::default());
}

#[test]
fn incomplete_or_wrong_price_is_rejected() {
    for (text, sentence) in [
        ("[prices.m]\ninput = 1", "antiphon.toml:1: this price lacks 'output'"),
        ("[prices.m]\noutput = 1", "antiphon.toml:1: this price lacks 'input'"),
        (
            "[prices.m]\ninput = -1\noutput = 1",
            "antiphon.toml:2: input must be a number, 0 or more",
        ),
        (
            "[prices.m]\ninput = inf\noutput = 1",
            "antiphon.toml:2: input must be a number, 0 or more",
        ),
        (
            "[prices.m]\ninput = '1'\noutput = 1",
            "antiphon.toml:2: input must be a number, 0 or more",
        ),
        (
            "[prices.m]\ninptu = 1",
            "antiphon.toml:2: unknown key 'inptu'; a price's keys are input, cached-input, \
             cache-write, output",
        ),
        ("prices = 1", "antiphon.toml:1: prices must be tables, each below [prices.\"MODEL\"]"),
        ("[prices]\nm = 1", "antiphon.toml:2: a price must be a table below [prices.\"MODEL\"]"),
        (
            "[prices]\ncurrency = 'a dollar'",
            "antiphon.toml:2: currency must have 1 to 8 letters and digits, such as \"USD\"",
        ),
    ] {
        assert_eq!(refusal_of_file(text), sentence, "{text}");
    }
}
