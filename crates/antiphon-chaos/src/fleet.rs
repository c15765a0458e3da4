//! The gateways of a run: one, or several that share a store.

use anyhow::ensure;

use crate::gateway_client::GatewayClient;
use crate::replica::{Launch, Replica};
use crate::store::Store;

/// Gateways that are killed and restarted.
pub(crate) struct Fleet {
    launch: Launch,
    store: Store,
    members: Vec<Member>,
}

struct Member {
    replica: Replica,
    /// The gateway's id in the store, if the store has such ids.
    holder: Option<String>,
}

impl Fleet {
    /// Starts the number of gateways that the store supports.
    pub(crate) async fn start(launch: Launch, store: Store) -> anyhow::Result<Self> {
        let mut fleet = Self { launch, store, members: Vec::new() };
        while fleet.members.len() < fleet.store.gateways() {
            let member = fleet.member(WAIT).await?;
            fleet.members.push(member);
        }
        Ok(fleet)
    }

    /// The number of gateways.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// A client for one gateway.
    pub(crate) fn gateway(&self, index: usize) -> GatewayClient {
        self.members[index].replica.gateway()
    }

    /// Kills a gateway and lets its lease expire.
    pub(crate) async fn kill(&mut self, index: usize) -> anyhow::Result<()> {
        self.ensure_running()?;
        let member = &mut self.members[index];
        member.replica.kill().await?;
        match &member.holder {
            Some(holder) => self.store.expire_lease(holder).await,
            None => Ok(()),
        }
    }

    /// Restarts a gateway. Its turns wait at most `wait` seconds for their conversation.
    pub(crate) async fn start_again(&mut self, index: usize, wait: u32) -> anyhow::Result<()> {
        self.members[index] = self.member(wait).await?;
        Ok(())
    }

    /// Waits until no turn is open.
    pub(crate) async fn wait_for_open_turns(&self) -> anyhow::Result<()> {
        self.store.wait_for_open_turns().await
    }

    /// Crashes and restarts the database server. Returns false if the store has no server.
    pub(crate) async fn crash(&mut self) -> anyhow::Result<bool> {
        self.ensure_running()?;
        Ok(self.store.crash().await)
    }

    fn ensure_running(&mut self) -> anyhow::Result<()> {
        let ended = self.members.iter_mut().any(|member| member.replica.has_ended());
        ensure!(!ended, "a gateway has exited without being killed");
        Ok(())
    }

    /// Starts a gateway and finds its id: the one that is new in the store.
    async fn member(&self, wait: u32) -> anyhow::Result<Member> {
        let before = self.store.holders().await?;
        let replica = Replica::start(&self.launch, wait).await?;
        let mut after = self.store.holders().await?.into_iter();
        Ok(Member { replica, holder: after.find(|holder| !before.contains(holder)) })
    }
}

/// The initial limit on waiting for a conversation, in seconds.
const WAIT: u32 = 5;
