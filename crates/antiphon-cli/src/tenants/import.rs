//! `antiphon import`.

use std::process::ExitCode;
use std::sync::Arc;

use antiphon_gateway::import::{Contents, ImportError, Importer, ListOrder, Report};
use antiphon_store::{ConversationId, Store};

use super::args::ImportArgs;
use super::tenant_selector::TenantSelector;
use super::{open, run, snapshot};
use crate::failure::{self, Failure};
use crate::settings;

/// Imports files into a tenant. The exit code is 1 if an object was refused.
pub(crate) fn import(args: ImportArgs) -> Result<ExitCode, Failure> {
    let ImportArgs { tenant, files, conversation, order, json, quotas } = args;
    let limits = settings::quotas(quotas.into_values(), settings::environment)?;
    let selector = TenantSelector::from_args(tenant)?;
    let conversation = conversation.as_deref().map(parse_conversation).transpose()?;
    let order = order.as_deref().map(parse_order).transpose()?;
    let mut contents = Vec::new();
    for file in &files {
        contents.push(Contents::detect(file).map_err(|flaw| Failure::usage(flaw.to_string()))?);
    }
    let is_export = contents.contains(&Contents::Export);
    if is_export && (files.len() > 1 || conversation.is_some() || order.is_some()) {
        return Err(Failure::usage(
            "an export is imported alone, without --conversation and --order",
        ));
    }
    run(async {
        let store = open(&selector.access, "import into it").await?;
        let imported = async {
            let importer = importer(&selector, &store, limits).await?;
            let report = match is_export {
                true => importer.import_export(&files[0]).await,
                false => importer.import_items(&files, conversation, order).await,
            };
            report.map_err(|error| failure(&error))
        };
        let report = imported.await;
        store.close().await;
        print(&report?, json)
    })
}

async fn importer(
    selector: &TenantSelector,
    store: &Arc<dyn Store>,
    limits: antiphon_gateway::settings::Limits,
) -> Result<Importer, Failure> {
    let runtime = |error: std::io::Error| Failure::runtime(error.to_string());
    // The names of tenants of tokens depend on the gateway's key, so it must exist first.
    antiphon_gateway::import::prepare(&**store, &selector.access.secrets).await.map_err(runtime)?;
    let tenant = selector.name(&mut *snapshot(&selector.access).await?).await?;
    Importer::new(Arc::clone(store), tenant, &selector.access.secrets, limits)
        .await
        .map_err(runtime)
}

fn parse_conversation(text: &str) -> Result<ConversationId, Failure> {
    ConversationId::parse(text).ok_or_else(|| {
        Failure::usage(format!(
            "--conversation: '{text}' is no id: give 'conv_' and 48 digits of 0-9 and a-f"
        ))
    })
}

fn parse_order(text: &str) -> Result<ListOrder, Failure> {
    match text {
        "asc" => Ok(ListOrder::Ascending),
        "desc" => Ok(ListOrder::Descending),
        other => Err(Failure::usage(format!("--order: '{other}' is neither 'asc' nor 'desc'"))),
    }
}

fn failure(error: &ImportError) -> Failure {
    match error {
        ImportError::Flaw(flaw) => Failure::usage(flaw.to_string()),
        ImportError::Store(_) => Failure::runtime(error.to_string()),
    }
}

fn print(report: &Report, as_json: bool) -> Result<ExitCode, Failure> {
    let text = match as_json {
        true => serde_json::to_string(report)
            .map_err(|error| Failure::runtime(format!("the report cannot be written: {error}")))?,
        false => report.to_string(),
    };
    failure::print(&format!("{text}\n"))?;
    Ok(if report.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
