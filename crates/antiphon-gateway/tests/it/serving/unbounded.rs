//! Whoever wants no bound says so with the longest time there is.

use std::num::NonZeroU32;
use std::time::Duration;

use antiphon_gateway::settings::Rate;

use crate::support::{MODES, World, ask};

#[tokio::test]
async fn extreme_limits_work() {
    let world = World::with(|settings| {
        settings.turn_wait = Duration::MAX;
        settings.shutdown_grace = Duration::MAX;
        let limits = &mut settings.limits;
        let most = NonZeroU32::MAX;
        limits.rate = Some(Rate { per_second: most, burst: most });
        for bound in
            [&mut limits.client_timeout, &mut limits.header_timeout, &mut limits.body_timeout]
        {
            *bound = Duration::MAX;
        }
        for upstream in &mut settings.upstreams {
            upstream.connect_timeout = Duration::MAX;
            upstream.first_byte_timeout = Duration::MAX;
            upstream.idle_timeout = Duration::MAX;
            upstream.total_timeout = Duration::MAX;
        }
    })
    .await;
    for mode in MODES {
        let turn = world.client().turn(mode, &ask("My color is purple")).await;
        assert_eq!(turn.text(), "Noted.");
    }
}
