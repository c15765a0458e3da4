//! The PostgreSQL servers of tests, from the outside.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use antiphon_testkit::postgres::{Durability, Server};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};

async fn connected(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it is there");
    // It ends with its server or its client: either is a test's wish.
    tokio::spawn(async { drop(connection.await) });
    client
}

async fn text(client: &Client, query: &str) -> String {
    client.query_one(query, &[]).await.expect("it is answered").get(0)
}

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = timeout(Duration::from_secs(30), future).await;
    waited.unwrap_or_else(|_| panic!("waited in vain until {what}"))
}

#[tokio::test]
async fn a_database_is_fresh_and_empty() {
    let server = Server::shared().await;
    let (first, second) = tokio::join!(server.database(), server.database());
    assert_ne!(first, second);
    let first = connected(&first).await;
    first.batch_execute("CREATE TABLE turns ()").await.unwrap();
    let tables = "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(text(&first, tables).await, "1");
    assert_eq!(text(&connected(&second).await, tables).await, "0");
}

#[tokio::test]
async fn tests_of_a_process_share_one_server() {
    assert!(std::ptr::eq(Server::shared().await, Server::shared().await));
}

#[test]
fn a_shared_server_outlives_the_runtime_of_the_test_that_started_it() {
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let url = Server::shared().await.database().await;
            assert_eq!(text(&connected(&url).await, "SELECT 'here'").await, "here");
        });
    }
}

#[tokio::test]
async fn a_password_is_wanted() {
    let server = Server::shared().await;
    let url = server.admin_url();
    let (user, place) = url.split_once('@').unwrap();
    let user = user.rsplit_once(':').unwrap().0;
    for login in [format!("{user}:wrong@{place}"), format!("{user}@{place}")] {
        assert!(tokio_postgres::connect(&login, NoTls).await.is_err(), "{login}");
    }
    let stored = "SELECT rolpassword FROM pg_authid WHERE rolname = current_user";
    let stored = text(&connected(&url).await, stored).await;
    assert!(stored.starts_with("SCRAM-SHA-256$"), "{stored}");
}

#[tokio::test]
async fn it_listens_on_a_unix_socket_too() {
    let server = Server::shared().await;
    let mut config: tokio_postgres::Config = server.admin_url().parse().unwrap();
    let port = config.get_ports()[0];
    let (user, password) = (config.get_user().unwrap(), config.get_password().unwrap());
    let mut local = tokio_postgres::Config::new();
    local.user(user).password(password).dbname("postgres").port(port);
    config = local.host_path(server.socket_folder()).clone();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    assert_eq!(text(&client, "SELECT coalesce(host(inet_client_addr()), 'local')").await, "local");
}

#[tokio::test]
async fn commits_wait_for_the_disk_where_that_is_wanted() {
    let relaxed = connected(&Server::shared().await.admin_url()).await;
    assert_eq!(text(&relaxed, "SHOW fsync").await, "off");
    let server = Server::with(Durability::Synced).await;
    assert_eq!(text(&connected(&server.admin_url()).await, "SHOW fsync").await, "on");
}

#[tokio::test]
async fn what_was_committed_is_there_after_a_stop_and_after_a_kill() {
    let mut server = Server::start().await;
    let url = server.database().await;
    let before = connected(&url).await;
    before.batch_execute("CREATE TABLE said (it text)").await.unwrap();
    before.batch_execute("INSERT INTO said VALUES ('before')").await.unwrap();

    server.restart().await;
    assert!(before.simple_query("SELECT 1").await.is_err(), "its session was ended");
    let between = connected(&url).await;
    between.batch_execute("INSERT INTO said VALUES ('between')").await.unwrap();
    between.batch_execute("BEGIN; INSERT INTO said VALUES ('never')").await.unwrap();
    server.kill().await;
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err(), "nobody listens");
    server.start_again().await;

    let said = "SELECT string_agg(it, ' ' ORDER BY it) FROM said";
    assert_eq!(text(&connected(&url).await, said).await, "before between");
}

#[tokio::test]
async fn a_paused_server_answers_when_it_goes_on() {
    let mut server = Server::start().await;
    let client = connected(&server.admin_url()).await;
    server.pause().await;
    let answer = tokio::spawn(async move { text(&client, "SELECT 'awake'").await });
    let asked = timeout(Duration::from_millis(50), connected(&server.admin_url())).await;
    assert!(asked.is_err(), "nobody answers");
    assert!(!answer.is_finished());
    server.resume().await;
    assert_eq!(soon("it answers", answer).await.unwrap(), "awake");
}

#[tokio::test]
async fn a_paused_server_can_be_dropped() {
    let mut server = Server::start().await;
    let (folder, url) = (server.socket_folder().to_owned(), server.admin_url());
    server.pause().await;
    drop(server);
    assert!(!folder.exists());
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err());
}

#[tokio::test]
async fn no_server_stays_behind_when_the_process_is_killed() {
    let mut process = tokio::process::Command::from(holder());
    let mut process = process.kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let place = soon("a server runs in the process", async {
        loop {
            let line = lines.next_line().await.unwrap().expect("it tells its server's place");
            if let Some((_, place)) = line.split_once(PLACE) {
                let (port, folder) = place.split_once(' ').unwrap();
                break (format!("127.0.0.1:{port}"), std::path::PathBuf::from(folder));
            }
        }
    })
    .await;
    let (address, folder) = place;
    assert!(TcpStream::connect(&address).await.is_ok());

    process.kill().await.unwrap();

    soon("nothing of the server is left", async {
        while TcpStream::connect(&address).await.is_ok() || folder.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Not a test, but the process that is killed in one.
#[tokio::test]
#[ignore = "it never ends by itself"]
async fn a_process_with_a_server() {
    if env::var_os(HOLDER).is_none() {
        return;
    }
    let server = Server::shared().await;
    let config: tokio_postgres::Config = server.admin_url().parse().unwrap();
    println!("{PLACE}{} {}", config.get_ports()[0], server.socket_folder().display());
    std::future::pending::<()>().await;
}

/// This program, as the process that is killed.
fn holder() -> Command {
    let mut command = Command::new(env::current_exe().expect("it runs"));
    command.args(["--exact", "a_process_with_a_server", "--ignored", "--nocapture"]);
    command.env(HOLDER, "yes").stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

const HOLDER: &str = "ANTIPHON_TEST_HOLDS_A_SERVER";
const PLACE: &str = "the server is at ";
