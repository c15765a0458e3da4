//! A connection and its prepared statements.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::failure::Failure;
use super::statements::{ALL, Sql, statements};

/// The time to wait for an answer: longer than the server's own statement timeout.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection with all statements prepared.
///
/// A statement is sent when its future is first polled, so joined futures are sent in the order of
/// their arguments. The server executes them in that order. Statements that do not depend on one
/// another's answers thus cost one round trip.
#[derive(Debug)]
pub(super) struct Session {
    /// The name of the connection in the database.
    pub(super) id: String,
    /// The process that it belongs to.
    pub(super) holder: String,
    client: Client,
    prepared: Prepared,
    /// Whether an answer did not arrive in time.
    is_silent: AtomicBool,
    /// The number of the last commit; 0 before the first.
    last_commit: AtomicI64,
}

impl Session {
    /// Prepares the statements on a connection to a database that has its tables.
    pub(super) async fn prepare(
        client: Client,
        holder: String,
    ) -> Result<Self, tokio_postgres::Error> {
        let prepared = prepare_all(&client).await?;
        let id = client.query_one(&prepared[OPEN.name], &[&holder]).await?.get(0);
        Ok(Self::new(id, holder, client, prepared))
    }

    /// Prepares a connection that belongs to no process. It has no name in the database and can
    /// only read.
    pub(super) async fn reading(client: Client) -> Result<Self, tokio_postgres::Error> {
        let prepared = prepare_all(&client).await?;
        Ok(Self::new(String::new(), String::new(), client, prepared))
    }

    fn new(id: String, holder: String, client: Client, prepared: Prepared) -> Self {
        let (is_silent, last_commit) = (AtomicBool::new(false), AtomicI64::new(0));
        Self { id, holder, client, prepared, is_silent, last_commit }
    }

    /// The number of the last commit. `None` before the first.
    pub(super) fn last_commit(&self) -> Option<i64> {
        Some(self.last_commit.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    /// Records the number of a commit.
    pub(super) fn note_commit(&self, number: i64) {
        self.last_commit.store(number, Ordering::Relaxed);
    }

    /// Whether the connection is no longer usable.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.is_silent.load(Ordering::Relaxed)
    }

    /// The rows that a statement returns.
    pub(super) async fn rows(&self, sql: &Sql, given: Parameters<'_>) -> Result<Vec<Row>, Failure> {
        self.answer(self.client.query(self.statement(sql), given)).await
    }

    /// The row that a statement returns, if any.
    pub(super) async fn row(
        &self,
        sql: &Sql,
        given: Parameters<'_>,
    ) -> Result<Option<Row>, Failure> {
        self.answer(self.client.query_opt(self.statement(sql), given)).await
    }

    /// The number of rows that a statement affected.
    pub(super) async fn execute(&self, sql: &Sql, given: Parameters<'_>) -> Result<u64, Failure> {
        self.answer(self.client.execute(self.statement(sql), given)).await
    }

    /// Runs a transaction command.
    pub(super) async fn command(&self, command: &str) -> Result<(), Failure> {
        self.answer(self.client.batch_execute(command)).await
    }

    async fn answer<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        let Ok(answer) = timeout(ANSWER_TIMEOUT, asked).await else {
            self.is_silent.store(true, Ordering::Relaxed);
            return Err(Failure::Silence);
        };
        Ok(answer?)
    }

    fn statement(&self, sql: &Sql) -> &Statement {
        self.prepared.get(sql.name).expect("every statement is listed, and so prepared")
    }
}

type Prepared = HashMap<&'static str, Statement>;

async fn prepare_all(client: &Client) -> Result<Prepared, tokio_postgres::Error> {
    let statements = ALL.iter().flat_map(|module| module.iter());
    let preparing = statements.map(|sql| async move {
        Ok::<_, tokio_postgres::Error>((sql.name, client.prepare(sql.text).await?))
    });
    Ok(try_join_all(preparing).await?.into_iter().collect())
}

statements! {
    OPEN = "
        INSERT INTO sessions (id, holder) VALUES (gen_random_uuid()::text, $1) RETURNING id";
}
