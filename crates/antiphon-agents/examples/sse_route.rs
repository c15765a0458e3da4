//! A route that streams a run to a browser as server-sent events, and a request to it.

use std::convert::Infallible;
use std::sync::Arc;

use antiphon_agents::agent::WithModel;
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{Agent, Model, Run};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::sse::{Event, Sse};
use axum::routing::post;
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone)]
struct App {
    agent: Agent<(), WithModel>,
    sessions: Arc<dyn SessionStore>,
}

/// Answers a message. A browser that disconnects stops the run; its session stays complete.
async fn chat(
    State(app): State<App>,
    Path(user): Path<String>,
    message: String,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let state = antiphon_agents::State::shared_session(app.sessions, user);
    let run = Run::start(&app.agent, state, message).expect("the agent is valid");
    Sse::new(run.filter_map(async |event| Some(Ok(Event::default().data(event.text()?)))))
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::new("greeter").model(Model::sim());
    let app = App { agent, sessions: Arc::new(MemorySessions::new()) };
    let router = Router::new().route("/chat/{user}", post(chat)).with_state(app);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut socket = TcpStream::connect(listener.local_addr()?).await?;
    tokio::spawn(async { axum::serve(listener, router).await });

    let head = "POST /chat/ada HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    socket.write_all(format!("{head}content-length: 2\r\n\r\nHi").as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    assert!(answer.contains("content-type: text/event-stream"));
    assert!(answer.contains("data: Noted:"));
    println!("{answer}");
    Ok(())
}
