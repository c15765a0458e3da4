//! `antiphon export`.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use super::args::ExportArgs;
use super::tenant_selector::TenantSelector;
use super::{run, snapshot};
use crate::failure::Failure;

/// Writes all data of a tenant.
pub(crate) fn export(args: ExportArgs) -> Result<ExitCode, Failure> {
    let whose = TenantSelector::of(args.whose)?;
    run(async {
        let mut snapshot = snapshot(&whose.access).await?;
        let (tenant, _) = whose.found(&mut *snapshot).await?;
        let mut out = BufWriter::new(output(args.output.as_deref())?);
        antiphon_gateway::export::export(&mut *snapshot, &tenant, &mut out)
            .await
            .map_err(|error| Failure::runtime(error.to_string()))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The destination of the lines. A file is created, with access for its owner only.
fn output(path: Option<&Path>) -> Result<Box<dyn Write + Send>, Failure> {
    let Some(path) = path else { return Ok(Box::new(io::stdout())) };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(|error| {
        Failure::usage(format!("--output: {} cannot be created: {error}", path.display()))
    })?;
    Ok(Box::new(file))
}
