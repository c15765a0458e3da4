//! Measures the cost of gateways in front of a scripted upstream, a process of its own that also
//! judges each input.
//!
//! Each case runs on each server with new files. The load runs in this process.

mod cases;
mod client;
mod database;
mod dialogue;
mod judged_upstream;
mod load;
mod marker;
mod options;
mod platform;
mod results;
mod run;
mod servers;
mod table;
mod upstream;
mod usage;

use std::fs;

use anyhow::Context as _;
use clap::Parser as _;

use self::options::Options;
use self::results::Row;
use self::run::Bench;
use self::table::{Details, Summary};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some(judged_upstream::ROLE) {
        return upstream::run().await;
    }
    let options = Options::parse();
    let rows = Bench::start(&options).await?.run().await;
    println!("\n{}{}", Summary(&rows), Details(&rows));
    if let Some(file) = &options.json {
        let results: Vec<_> = rows.iter().map(Row::json).collect();
        fs::write(file, serde_json::to_string_pretty(&results)?)
            .with_context(|| file.display().to_string())?;
    }
    Ok(())
}
