//! The measured servers.

mod antiphon;
mod peers;
mod running;
mod trace;
mod wal_index;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::options::Options;

pub(crate) use self::antiphon::{UPSTREAM, UPSTREAM_CA_FILE};
pub(crate) use self::running::{Running, free_address};
pub(crate) use self::wal_index::WalPages;

/// A server that the benchmark can start.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// When a turn is durable.
    pub(crate) durability: Durability,
    pub(crate) program: PathBuf,
    pub(crate) uses_postgres: bool,
    /// Whether the costs of its export of traces are measured.
    pub(crate) exports_traces: bool,
    /// Whether it is Antiphon: it logs its address once it listens, and its upstream can have a
    /// certificate of a private authority.
    pub(crate) is_antiphon: bool,
    pub(crate) launch: fn(&Place) -> Launch,
}

/// The durability of a turn, relative to its terminal event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The server stores nothing.
    None,
    Memory,
    /// The server stores turns on disk, at a time that its documentation does not name.
    Stored,
    CommittedBeforeTerminal,
}

impl Durability {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::None => "no state",
            Self::Memory => "in memory",
            Self::Stored => "stored",
            Self::CommittedBeforeTerminal => "committed before the terminal event",
        }
    }
}

/// The surroundings of a server.
pub(crate) struct Place {
    pub(crate) listen: SocketAddr,
    /// A second free port.
    pub(crate) spare_port: u16,
    pub(crate) upstream: SocketAddr,
    /// A folder for the server's files.
    pub(crate) folder: PathBuf,
    /// Whether strace counts the server's synced writes, if it is installed.
    pub(crate) traced: bool,
    /// Whether the server is asked to stop, and not killed.
    pub(crate) stops_in_order: bool,
    /// An empty database, if the server uses PostgreSQL.
    pub(crate) postgres: Option<String>,
    /// Further variables of the server's environment.
    pub(crate) environment: Environment,
}

/// Variables with their values.
pub(crate) type Environment = BTreeMap<&'static str, String>;

/// The arguments, environment and files of a server.
#[derive(Default)]
pub(crate) struct Launch {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Environment,
    pub(crate) files: BTreeMap<&'static str, String>,
}

/// The chosen servers that are installed. Prints a sentence for each that is not.
pub(crate) fn find(options: &Options) -> Vec<Server> {
    let mut servers = antiphon::servers(&options.antiphon);
    servers.retain(|server| options.includes(server.name));
    for peer in peers::PEERS.iter().filter(|peer| options.includes(peer.name)) {
        match peers::program(peer.program, options.peers.as_deref()) {
            Some(program) => servers.push(Server {
                name: peer.name,
                durability: peer.durability,
                program,
                uses_postgres: false,
                exports_traces: false,
                is_antiphon: false,
                launch: peer.launch,
            }),
            None => println!("{} is skipped: `{}` is not installed", peer.name, peer.program),
        }
    }
    servers
}
