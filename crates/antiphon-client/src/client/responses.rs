//! The stored responses of a server.

use antiphon::Item;
use antiphon::provider_api::{ChainOptions, ChainStep, ChainWalk, Cursor, StoredResponse};
use antiphon::tracker::ResponseId;
use bytes::Bytes;
use http::Method;

use super::conversations::{field_items, invalid, list, segment};
use crate::{Client, Error, ErrorKind, Rejection, Request};

/// The stored responses of a server.
#[derive(Clone, Copy, Debug)]
pub struct Responses<'a> {
    client: &'a Client,
}

impl<'a> Responses<'a> {
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// A stored response, which may still be in progress.
    pub async fn retrieve(self, id: &ResponseId) -> Result<StoredResponse, Error> {
        parse(self.client.call_state(Method::GET, &path(id)?, None).await?)
    }

    /// Cancels a response in the background.
    pub async fn cancel(self, id: &ResponseId) -> Result<StoredResponse, Error> {
        let path = format!("{}/cancel", path(id)?);
        parse(self.client.call_state(Method::POST, &path, Some(Bytes::from_static(b"{}"))).await?)
    }

    /// Deletes a response.
    pub async fn delete(self, id: &ResponseId) -> Result<(), Error> {
        self.client.call_state(Method::DELETE, &path(id)?, None).await.map(drop)
    }

    /// The items of the response's input, in order. Some servers list the whole context, others
    /// only the input of the request itself.
    pub async fn input_items(self, id: &ResponseId) -> Result<Vec<Item>, Error> {
        let path = format!("{}/input_items", path(id)?);
        list(self.client, &path, Cursor::LastOfData).await
    }

    /// All items of the chain that ends with this response, its output included.
    pub async fn chain_items(self, id: &ResponseId) -> Result<Vec<Item>, Error> {
        self.client.require_state("the chain")?;
        let options = ChainOptions { shows_images: false, reads_conversation: true };
        segment(id.as_str())?;
        let walk = ChainWalk::new(id.as_str(), options).expect("the id was checked");
        let mut walk = Box::new(walk);
        loop {
            let answer = self.client.exchange(Method::GET, &walk.path(), None).await?;
            let (status, headers, body) = answer.read().await?;
            walk = match walk.take(status.as_u16(), &body) {
                ChainStep::Request(next) | ChainStep::Previous(next, _) => next,
                ChainStep::Done(chain) => {
                    let (mut items, output) = chain.into_items(None);
                    items.extend(output);
                    return Ok(items);
                }
                ChainStep::NotListed(Some(error)) => return Err(invalid(&error.to_string())),
                ChainStep::NotFound | ChainStep::NotListed(None) => {
                    let now = crate::client::unix_now();
                    let rejection = Rejection::new(status.as_u16(), &headers, &body, now);
                    return Err(ErrorKind::Rejected(rejection).into());
                }
            };
        }
    }

    /// Compacts the input of a request: returns the items that replace it.
    pub async fn compact(self, request: &Request) -> Result<Vec<Item>, Error> {
        let answer =
            self.client.call_state(Method::POST, "/responses/compact", Some(request.body()));
        field_items(&answer.await?, "output")
    }
}

fn path(id: &ResponseId) -> Result<String, Error> {
    Ok(format!("/responses/{}", segment(id.as_str())?))
}

fn parse(body: Bytes) -> Result<StoredResponse, Error> {
    StoredResponse::parse(body).map_err(|error| invalid(&error.to_string()))
}
