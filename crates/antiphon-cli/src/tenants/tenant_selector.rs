//! The selection of a tenant.

use antiphon_gateway::settings::Secret;
use antiphon_gateway::tenant_of_token;
use antiphon_store::{DataCounts, Snapshot, Tenant};

use super::args::TenantArgs;
use super::store_failure;
use crate::failure::Failure;
use crate::settings::{self, Access};

/// The selected tenant and the access to its store.
pub(super) struct TenantSelector {
    pub(super) access: Access,
    selection: Selection,
}

enum Selection {
    /// Selected by name.
    Name(String),
    /// Selected by a caller's token.
    Token(Secret),
}

impl TenantSelector {
    pub(super) fn from_args(args: TenantArgs) -> Result<Self, Failure> {
        let TenantArgs { store, tenant, token_env, secret } = args;
        let access = settings::access(store.store, secret, settings::environment)?;
        let selection = match (tenant, token_env) {
            (Some(name), _) => Selection::Name(name),
            (None, Some(variable)) => Selection::Token(Secret::new(token(&variable)?)),
            (None, None) => unreachable!("one of the two options is required"),
        };
        Ok(Self { access, selection })
    }

    /// Returns the tenant and the amount of its data. Fails if the tenant has no data.
    pub(super) async fn find(
        &self,
        snapshot: &mut dyn Snapshot,
    ) -> Result<(Tenant, DataCounts), Failure> {
        let tenant = self.name(snapshot).await?;
        let held = snapshot.count_data(&tenant).await.map_err(|error| store_failure(&error))?;
        if held.is_nothing() {
            let sentence = format!(
                "the store has no data of the tenant '{}'; antiphon tenants lists the tenants \
                 that have some",
                tenant.as_str()
            );
            return Err(Failure::runtime(sentence));
        }
        Ok((tenant, held))
    }

    /// Returns the tenant, which may have no data.
    pub(super) async fn name(&self, snapshot: &mut dyn Snapshot) -> Result<Tenant, Failure> {
        let tenant = match &self.selection {
            Selection::Name(name) => Some(Tenant::new(name.as_str())),
            Selection::Token(token) => {
                tenant_of_token(snapshot, &self.access.secrets, token.reveal())
                    .await
                    .map_err(|error| Failure::runtime(error.to_string()))?
            }
        };
        tenant.ok_or_else(|| Failure::runtime("the store has no data of any tenant"))
    }
}

fn token(variable: &str) -> Result<String, Failure> {
    let token = settings::environment(variable)?;
    token.ok_or_else(|| {
        Failure::usage(format!("--token-env: the variable {variable} is not set, or is empty"))
    })
}
