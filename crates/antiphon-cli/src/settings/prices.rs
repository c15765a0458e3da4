//! The prices of models in the file, in tables below `[prices]`.

use antiphon_gateway::settings::{ModelPattern, Price, Prices};

use super::file::PriceTables;
use super::setting::{Form, Setting, TEXT, apply, settings};
use super::values::Value;
use crate::failure::Failure;

/// A price for a million tokens.
const PRICE: (Form, &str) = (Form::Decimal, "a number, 0 or more");

/// The keys below `[prices."MODEL"]`.
pub(super) fn settings() -> Vec<Setting<Price>> {
    settings! { Price;
        "input": PRICE, price => |it, price| it.input = price;
        "cached-input": PRICE, price => |it, price| it.cached_input = Some(price);
        "cache-write": PRICE, price => |it, price| it.cache_write = Some(price);
        "output": PRICE, price => |it, price| it.output = price;
    }
}

/// The keys below `[prices]`, besides the models.
pub(super) fn general() -> Vec<Setting<Prices>> {
    settings! { Prices;
        "currency": TEXT, currency => |it, currency| it.currency = Some(currency);
    }
}

/// Parses the prices. A model needs both prices, so that no cost lacks a part.
pub(super) fn prices(tables: &PriceTables) -> Result<Prices, Failure> {
    let mut prices = Prices::default();
    apply(&general(), &tables.values, &mut prices)?;
    for (model, table) in &tables.models {
        table.required("input")?;
        table.required("output")?;
        let model = ModelPattern::new(model);
        let mut price =
            Price { model, input: 0.0, cached_input: None, cache_write: None, output: 0.0 };
        apply(&settings(), &table.values, &mut price)?;
        prices.models.push(price);
    }
    Ok(prices)
}

fn price(value: &Value) -> Result<f64, Failure> {
    let price = value.text().parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| value.unexpected(PRICE.1))
}

fn currency(value: &Value) -> Result<String, Failure> {
    let currency = value.text();
    let is_short = (1..=8).contains(&currency.len());
    match is_short && currency.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => Ok(currency.to_owned()),
        false => Err(value.refused_as("must have 1 to 8 letters and digits, such as \"USD\"")),
    }
}
