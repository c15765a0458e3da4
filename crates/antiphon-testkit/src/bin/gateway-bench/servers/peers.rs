//! Other servers, if they are installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Durability, Launch, Place};

/// Another server.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) durability: Durability,
    pub(super) launch: fn(&Place) -> Launch,
}

pub(super) const PEERS: [Peer; 4] = [
    Peer { name: "nginx", program: "nginx", durability: Durability::None, launch: nginx },
    Peer { name: "smg", program: "smg", durability: Durability::Memory, launch: smg },
    Peer {
        name: "agentic-api",
        program: "agentic-server",
        durability: Durability::Stored,
        launch: agentic,
    },
    Peer { name: "litellm", program: "litellm", durability: Durability::None, launch: litellm },
];

/// Finds a program in `DIR/bin`, in the `bin` of each folder in `DIR`, or in the search path.
pub(super) fn program(name: &str, peers: Option<&Path>) -> Option<PathBuf> {
    let folders = fs::read_dir(peers.unwrap_or(Path::new(""))).into_iter().flatten().flatten();
    let in_peers = peers.into_iter().map(Path::to_owned).chain(folders.map(|it| it.path()));
    let search_path = env::var_os("PATH").unwrap_or_default();
    let candidates = in_peers.map(|it| it.join("bin")).chain(env::split_paths(&search_path));
    candidates.map(|folder| folder.join(name)).find(|program| program.is_file())
}

const NGINX: &str = "\
user root;
worker_processes 2;
pid nginx.pid;
error_log stderr;
events { worker_connections 30000; }
http {
    access_log off;
    client_max_body_size 0;
    client_body_buffer_size 4m;
    keepalive_requests 1000000;
    upstream model { server UPSTREAM; keepalive 64; keepalive_requests 1000000; }
    server {
        listen LISTEN;
        location / {
            proxy_pass http://model;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_buffering off;
        }
    }
}
";

/// A proxy without state.
fn nginx(place: &Place) -> Launch {
    let text = NGINX.replace("UPSTREAM", &place.upstream.to_string());
    let text = text.replace("LISTEN", &place.listen.to_string());
    let file = place.folder.join("nginx.conf");
    let arguments = ["-p", &folder(place), "-c", &file.display().to_string(), "-g", "daemon off;"];
    Launch {
        arguments: arguments.map(str::to_owned).into(),
        files: [("nginx.conf", text)].into(),
        ..Launch::default()
    }
}

fn smg(place: &Place) -> Launch {
    let [port, spare] = [place.listen.port(), place.spare_port].map(|it| it.to_string());
    let upstream = format!("http://{}", place.upstream);
    let arguments = [
        "launch",
        "--backend=openai",
        "--worker-urls",
        &upstream,
        "--host=127.0.0.1",
        "--port",
        &port,
        "--prometheus-port",
        &spare,
        "--history-backend=memory",
    ];
    Launch { arguments: arguments.map(str::to_owned).into(), ..Launch::default() }
}

fn agentic(place: &Place) -> Launch {
    let upstream = format!("http://{}", place.upstream);
    let database = format!("sqlite://{}/agentic.db?mode=rwc", folder(place));
    let port = place.listen.port().to_string();
    let arguments = [
        "--llm-api-base",
        &upstream,
        "--skip-llm-ready-check",
        "--openai-api-key=sk-bench",
        "--gateway-host=127.0.0.1",
        "--gateway-port",
        &port,
        "--db-url",
        &database,
    ];
    Launch { arguments: arguments.map(str::to_owned).into(), ..Launch::default() }
}

const LITELLM: &str = "\
model_list:
  - model_name: bench-model
    litellm_params: {model: openai/bench-model, api_base: \"http://UPSTREAM/v1\", api_key: sk-bench}
";

/// A proxy that leaves the state to its upstream.
fn litellm(place: &Place) -> Launch {
    let text = LITELLM.replace("UPSTREAM", &place.upstream.to_string());
    let port = place.listen.port().to_string();
    let arguments = ["--config=config.yaml", "--host=127.0.0.1", "--port", &port];
    Launch {
        arguments: arguments.map(str::to_owned).into(),
        environment: [("LITELLM_MASTER_KEY", "sk-bench".to_owned())].into(),
        files: [("config.yaml", text)].into(),
    }
}

fn folder(place: &Place) -> String {
    place.folder.display().to_string()
}
