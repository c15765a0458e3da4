//! Macros for the calls of [`PostgresStore`](super::PostgresStore).

/// Reads on one connection. The `$given` variables are references or `Copy` values.
macro_rules! read {
    ($store:expr, ($($given:ident),*), |$db:ident| $work:expr) => {{
        $store.check_open()?;
        $store.shared.run(&($($given,)*), |$db, ($($given,)*)| Box::pin($work)).await
    }};
}

/// Runs `$work` in a transaction, with the lock of the tree of `$shard` or without a lock. The call
/// runs to its end, even if its caller stops waiting.
macro_rules! transact {
    (
        $store:expr, $effect:ident, tree($tenant:ident, $shard:expr),
        ($($name:ident $(= $value:expr)?),*), |$db:ident| $work:expr
    ) => {{
        let shared = $store.shared.clone();
        let shard = $shard;
        let given = ($tenant.clone(), $(transact!(@value $name $($value)?),)*);
        $store
            .call(async move {
                let tree = Lock::Tree(&given.0, shard);
                let work = shared.write(Effect::$effect, tree, &given, |$db, given| {
                    let ($tenant, $($name,)*) = given;
                    Box::pin($work)
                });
                work.await
            })
            .await
    }};
    (
        $store:expr, $effect:ident, unlocked,
        ($($name:ident $(= $value:expr)?),*), |$db:ident| $work:expr
    ) => {{
        let shared = $store.shared.clone();
        let given = ($(transact!(@value $name $($value)?),)*);
        $store
            .call(async move {
                let work = shared.write(Effect::$effect, Lock::Nothing, &given, |$db, given| {
                    let ($($name,)*) = given;
                    Box::pin($work)
                });
                work.await
            })
            .await
    }};
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
}

pub(super) use {read, transact};
