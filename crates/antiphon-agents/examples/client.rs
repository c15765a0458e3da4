//! The client without an agent: a program that resends its whole history to a conversation.

use antiphon_agents::user;
use antiphon_client::{Client, EventKind, Request};

/// A gateway in this process, with the built-in model. `antiphon serve` starts one.
#[path = "../tests/it/gateway.rs"]
mod gateway;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new(gateway::start().await).with_key("any");
    let conversation = client.conversations().create(&[]).await?;
    let request = || Request::new("sim").conversation(conversation.as_str());

    let mut history = vec![user("My color is purple")];
    let mut answer = client.respond(request().items(history.clone())).await?;
    while let Some(event) = answer.next().await {
        match event?.into_kind() {
            EventKind::TextDelta(_, text) => print!("{text}"),
            EventKind::Completed(answered) => history.extend(answered.output),
            _ => {}
        }
    }

    // The server has the first message and its answer already: they are left out.
    history.push(user("What is my color?"));
    let answer = client.respond(request().items(history)).await?;
    assert_eq!(answer.report().resent, 2);
    println!("\n{}", answer.finish().await?.text());

    assert_eq!(client.conversations().items(&conversation).await?.len(), 4);
    Ok(())
}
