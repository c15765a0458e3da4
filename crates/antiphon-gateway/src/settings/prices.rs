//! The prices of models.

use antiphon::stream::Usage;

use super::ModelPattern;

/// The tokens that a price is for.
const UNIT: f64 = 1e6;

/// The prices of models, in one currency. The gateway knows no prices of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    /// The currency, such as `USD`, for readers.
    pub currency: Option<String>,
    /// The prices. A model without one has no cost.
    pub models: Vec<Price>,
}

/// The price of a model, for a million tokens each.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The models. A name takes precedence over a pattern with `*`, and a longer pattern over a
    /// shorter one.
    pub model: ModelPattern,
    /// Input that was not cached.
    pub input: f64,
    /// Input that was read from a cache; as `input` if `None`.
    pub cached_input: Option<f64>,
    /// Input that was written to a cache; as `input` if `None`.
    pub cache_write: Option<f64>,
    /// Output, including reasoning.
    pub output: f64,
}

impl Prices {
    /// The cost of tokens of a model, in the currency; `None` if the model has no price.
    pub fn cost(&self, model: &str, usage: Usage) -> Option<f64> {
        let fitting = self.models.iter().filter(|price| price.model.takes(model));
        Some(fitting.max_by_key(|price| price.precedence())?.cost(usage))
    }
}

impl Price {
    /// The precedence over other prices of a model.
    fn precedence(&self) -> (bool, usize) {
        let name = self.model.as_str();
        (!name.contains('*'), name.len())
    }

    /// The cost of tokens, rounded to a billionth.
    #[expect(clippy::cast_precision_loss, reason = "2^53 tokens are more than a model ever reads")]
    fn cost(&self, usage: Usage) -> f64 {
        let (cached, written) = (usage.cached_tokens, usage.cache_write_tokens);
        let uncached = usage.input_tokens.saturating_sub(cached).saturating_sub(written);
        let parts = [
            (uncached, self.input),
            (cached, self.cached_input.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        let total: f64 = parts.iter().map(|(tokens, price)| *tokens as f64 * price / UNIT).sum();
        (total * 1e9).round() / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(model: &str, input: f64, output: f64) -> Price {
        let model = ModelPattern::new(model);
        Price { model, input, cached_input: None, cache_write: None, output }
    }

    fn cost(price: &Price, model: &str, usage: Usage) -> Option<f64> {
        Prices { currency: None, models: vec![price.clone()] }.cost(model, usage)
    }

    const USAGE: Usage = Usage {
        input_tokens: 1_000_000,
        cached_tokens: 600_000,
        cache_write_tokens: 100_000,
        output_tokens: 200_000,
        reasoning_tokens: 150_000,
        total_tokens: 1_200_000,
    };

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let mut price = price("m", 2.0, 10.0);
        assert_eq!(cost(&price, "m", USAGE), Some(2.0 + 2.0));
        price.cached_input = Some(0.5);
        assert_eq!(cost(&price, "m", USAGE), Some(0.8 + 0.3 + 2.0));
        price.cache_write = Some(2.5);
        assert_eq!(cost(&price, "m", USAGE), Some(0.6 + 0.3 + 0.25 + 2.0));
    }

    #[test]
    fn model_without_a_price_has_no_cost() {
        assert_eq!(cost(&price("m", 2.0, 10.0), "m-mini", USAGE), None);
    }

    #[test]
    fn narrowest_price_applies() {
        let models = vec![price("m-*", 2.0, 0.0), price("*", 1.0, 0.0), price("m-1", 3.0, 0.0)];
        let prices = Prices { currency: None, models };
        let costs = ["m-1", "m-2", "n"].map(|model| prices.cost(model, USAGE));
        assert_eq!(costs, [Some(3.0), Some(2.0), Some(1.0)]);
    }
}
