//! The PostgreSQL servers for tests, through their public interface.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use antiphon_testkit::postgres::{Durability, Server};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};

async fn connect(url: &str) -> Client {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.expect("the server accepts connections");
    // The connection ends with its server or its client; tests do both on purpose.
    tokio::spawn(async { drop(connection.await) });
    client
}

async fn text(client: &Client, query: &str) -> String {
    client.query_one(query, &[]).await.expect("the query succeeds").get(0)
}

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = timeout(Duration::from_secs(30), future).await;
    waited.unwrap_or_else(|_| panic!("timed out waiting until {what}"))
}

#[tokio::test]
async fn each_database_is_new_and_empty() {
    let server = Server::shared().await;
    let (first, second) = tokio::join!(server.create_database(), server.create_database());
    assert_ne!(first, second);
    let first = connect(&first).await;
    first.batch_execute("CREATE TABLE turns ()").await.unwrap();
    let tables = "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(text(&first, tables).await, "1");
    assert_eq!(text(&connect(&second).await, tables).await, "0");
}

#[tokio::test]
async fn tests_of_one_process_share_a_server() {
    assert!(std::ptr::eq(Server::shared().await, Server::shared().await));
}

#[test]
fn shared_server_outlives_its_first_runtime() {
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let url = Server::shared().await.create_database().await;
            assert_eq!(text(&connect(&url).await, "SELECT 'here'").await, "here");
        });
    }
}

#[tokio::test]
async fn connections_require_the_password() {
    let server = Server::shared().await;
    let url = server.admin_url();
    let (user, place) = url.split_once('@').unwrap();
    let user = user.rsplit_once(':').unwrap().0;
    for login in [format!("{user}:wrong@{place}"), format!("{user}@{place}")] {
        assert!(tokio_postgres::connect(&login, NoTls).await.is_err(), "{login}");
    }
    let stored = "SELECT rolpassword FROM pg_authid WHERE rolname = current_user";
    let stored = text(&connect(&url).await, stored).await;
    assert!(stored.starts_with("SCRAM-SHA-256$"), "{stored}");
}

#[tokio::test]
async fn server_listens_on_a_unix_socket() {
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
async fn synced_server_enables_fsync() {
    let relaxed = connect(&Server::shared().await.admin_url()).await;
    assert_eq!(text(&relaxed, "SHOW fsync").await, "off");
    let server = Server::with_durability(Durability::Synced).await;
    assert_eq!(text(&connect(&server.admin_url()).await, "SHOW fsync").await, "on");
}

#[tokio::test]
async fn committed_data_survives_stop_and_kill() {
    let mut server = Server::start().await;
    let url = server.create_database().await;
    let before = connect(&url).await;
    before.batch_execute("CREATE TABLE notes (it text)").await.unwrap();
    before.batch_execute("INSERT INTO notes VALUES ('before')").await.unwrap();

    server.restart().await;
    assert!(before.simple_query("SELECT 1").await.is_err(), "the restart ended its session");
    let between = connect(&url).await;
    between.batch_execute("INSERT INTO notes VALUES ('between')").await.unwrap();
    between.batch_execute("BEGIN; INSERT INTO notes VALUES ('never')").await.unwrap();
    server.kill().await;
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err(), "the server is down");
    server.start_again().await;

    let notes = "SELECT string_agg(it, ' ' ORDER BY it) FROM notes";
    assert_eq!(text(&connect(&url).await, notes).await, "before between");
}

#[tokio::test]
async fn paused_server_answers_after_resume() {
    let mut server = Server::start().await;
    let client = connect(&server.admin_url()).await;
    server.pause().await;
    let answer = tokio::spawn(async move { text(&client, "SELECT 'awake'").await });
    let asked = timeout(Duration::from_millis(50), connect(&server.admin_url())).await;
    assert!(asked.is_err(), "a paused server does not answer");
    assert!(!answer.is_finished());
    server.resume().await;
    assert_eq!(soon("it answers", answer).await.unwrap(), "awake");
}

#[tokio::test]
async fn paused_server_can_be_dropped() {
    let mut server = Server::start().await;
    let (folder, url) = (server.socket_folder().to_owned(), server.admin_url());
    server.pause().await;
    drop(server);
    assert!(!folder.exists());
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err());
}

#[tokio::test]
async fn killing_the_process_ends_its_server() {
    let mut process = tokio::process::Command::from(server_process());
    let mut process = process.kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let address_and_folder = soon("a server runs in the process", async {
        loop {
            let line =
                lines.next_line().await.unwrap().expect("the process prints the server's address");
            if let Some((_, address_and_folder)) = line.split_once(ADDRESS_PREFIX) {
                let (port, folder) = address_and_folder.split_once(' ').unwrap();
                break (format!("127.0.0.1:{port}"), std::path::PathBuf::from(folder));
            }
        }
    })
    .await;
    let (address, folder) = address_and_folder;
    assert!(TcpStream::connect(&address).await.is_ok());

    process.kill().await.unwrap();

    soon("the server and its files are gone", async {
        while TcpStream::connect(&address).await.is_ok() || folder.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Not a test: the process that another test kills.
#[tokio::test]
#[ignore = "it runs until it is killed"]
async fn process_with_a_server() {
    if env::var_os(SERVER_PROCESS).is_none() {
        return;
    }
    let server = Server::shared().await;
    let config: tokio_postgres::Config = server.admin_url().parse().unwrap();
    println!("{ADDRESS_PREFIX}{} {}", config.get_ports()[0], server.socket_folder().display());
    std::future::pending::<()>().await;
}

/// A command that runs this program as the process to kill.
fn server_process() -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args(["--exact", "process_with_a_server", "--ignored", "--nocapture"]);
    command.env(SERVER_PROCESS, "yes").stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

const SERVER_PROCESS: &str = "ANTIPHON_TEST_HOLDS_A_SERVER";
const ADDRESS_PREFIX: &str = "the server is at ";
