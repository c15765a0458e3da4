//! The gateways of a run, one or several on one store.

use anyhow::ensure;

use crate::ground::Ground;
use crate::replica::{Launch, Replica};
use crate::wire::Wire;

/// Gateways that are killed and started again.
pub(crate) struct Fleet {
    launch: Launch,
    ground: Ground,
    members: Vec<Member>,
}

struct Member {
    replica: Replica,
    /// What the store calls it, if it tells its gateways apart.
    holder: Option<String>,
}

impl Fleet {
    /// Starts as many gateways as the store is for.
    pub(crate) async fn start(launch: Launch, ground: Ground) -> anyhow::Result<Self> {
        let mut fleet = Self { launch, ground, members: Vec::new() };
        while fleet.members.len() < fleet.ground.gateways() {
            let member = fleet.member(WAIT).await?;
            fleet.members.push(member);
        }
        Ok(fleet)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// How clients reach one of them.
    pub(crate) fn wire(&self, index: usize) -> Wire {
        self.members[index].replica.wire()
    }

    /// Kills one, and has its lease run out.
    pub(crate) async fn kill(&mut self, index: usize) -> anyhow::Result<()> {
        self.all_serve()?;
        let member = &mut self.members[index];
        member.replica.kill().await?;
        match &member.holder {
            Some(holder) => self.ground.run_out(holder).await,
            None => Ok(()),
        }
    }

    /// Starts one again; its turns wait in line for so many seconds.
    pub(crate) async fn start_again(&mut self, index: usize, wait: u32) -> anyhow::Result<()> {
        self.members[index] = self.member(wait).await?;
        Ok(())
    }

    /// Waits until no turn is open any more.
    pub(crate) async fn all_ended(&self) -> anyhow::Result<()> {
        self.ground.all_ended().await
    }

    /// Crashes the store's server and starts it again; says whether there is one.
    pub(crate) async fn crash(&mut self) -> anyhow::Result<bool> {
        self.all_serve()?;
        Ok(self.ground.crash().await)
    }

    fn all_serve(&mut self) -> anyhow::Result<()> {
        let ended = self.members.iter_mut().any(|member| member.replica.has_ended());
        ensure!(!ended, "a gateway has ended by itself");
        Ok(())
    }

    /// A gateway, and what it is called: a name that was not there before.
    async fn member(&self, wait: u32) -> anyhow::Result<Member> {
        let before = self.ground.holders().await?;
        let replica = Replica::start(&self.launch, wait).await?;
        let mut after = self.ground.holders().await?.into_iter();
        Ok(Member { replica, holder: after.find(|holder| !before.contains(holder)) })
    }
}

/// How long a turn waits in line at first, in seconds.
const WAIT: u32 = 5;
