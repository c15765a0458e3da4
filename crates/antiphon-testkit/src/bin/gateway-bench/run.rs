//! Runs each case on each server.

use std::fs;

use antiphon_testkit::postgres::{Durability, Server as Postgres};

use crate::cases::{self, Stage};
use crate::client::Client;
use crate::database::CountingProxy;
use crate::judged_upstream::JudgedUpstream;
use crate::options::{Case, Options};
use crate::results::Row;
use crate::servers::{self, Environment, Place, Running, Server, free_address};

/// The shared surroundings of all cases.
pub(crate) struct Bench<'a> {
    options: &'a Options,
    upstream: JudgedUpstream,
    /// A server with synced commits, if it could be started.
    postgres: Option<Postgres>,
    servers: Vec<Server>,
}

/// Enough files for the streams of [`Case::Idle`], if the system allows it.
const OPEN_FILES: u64 = 40_000;

impl<'a> Bench<'a> {
    /// Finds the servers. Prints a sentence for each that is skipped.
    pub(crate) async fn start(options: &'a Options) -> anyhow::Result<Self> {
        fs::create_dir_all(&options.folder)?;
        // The upstream and the servers inherit the limit of open files.
        rlimit::increase_nofile_limit(OPEN_FILES)?;
        let mut bench = Self {
            options,
            upstream: JudgedUpstream::start().await?,
            postgres: None,
            servers: servers::find(options),
        };
        if bench.servers.iter().any(|server| server.uses_postgres) {
            match Postgres::try_start(Durability::Synced).await {
                Ok(postgres) => bench.postgres = Some(postgres),
                Err(error) => {
                    println!("PostgreSQL is skipped: {error}");
                    bench.servers.retain(|server| !server.uses_postgres);
                }
            }
        }
        Ok(bench)
    }

    /// The rows of all cases. A failure becomes a note of its row.
    pub(crate) async fn run(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for case in self.options.cases() {
            let runs = |it: &&Server| match case {
                Case::Telemetry => it.exports_traces,
                Case::Start => it.is_antiphon,
                _ => true,
            };
            for server in self.servers.iter().filter(runs) {
                eprintln!("{} on {}", case.name(), server.name);
                let measured = self.run_case(case, server).await;
                let failed = |error| vec![Row::failed(case, server, &error)];
                rows.extend(measured.unwrap_or_else(failed));
            }
        }
        rows
    }

    async fn run_case(&self, case: Case, server: &Server) -> anyhow::Result<Vec<Row>> {
        let folder = tempfile::tempdir_in(&self.options.folder)?;
        let postgres = match &self.postgres {
            Some(postgres) if server.uses_postgres => Some(postgres.create_database().await),
            _ => None,
        };
        let database = match &postgres {
            Some(url) if case == Case::Io => Some(CountingProxy::start(url).await?),
            _ => None,
        };
        let place = Place {
            listen: free_address()?,
            spare_port: free_address()?.port(),
            upstream: self.upstream.address,
            folder: folder.path().to_owned(),
            traced: case == Case::Io,
            stops_in_order: self.options.stop_in_order,
            postgres: database.as_ref().map(|database| database.url.clone()).or(postgres),
            environment: Environment::new(),
        };
        let running = Running::start(server.clone(), place).await?;
        let client = Client::new(running.address());
        let (upstream, short) = (&self.upstream, self.options.short);
        cases::run(&mut Stage { case, server, running, upstream, client, database, short }).await
    }
}
