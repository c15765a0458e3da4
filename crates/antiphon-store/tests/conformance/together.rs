//! Many callers at once.

use std::collections::HashSet;

use antiphon_store::{Destination, StoreError};
use tokio::task::JoinSet;

use super::World;
use super::world::item_id;

const TASKS: usize = 64;

pub(crate) async fn concurrent_turns_stay_complete(world: World) {
    let conversation = world.conversation(&[]).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (world, conversation) = (world.clone(), conversation.clone());
        tasks.spawn(async move {
            let turn = ["x", "y", "z"].map(|part| format!("{task}{part}"));
            let [x, y, z] = turn.each_ref().map(String::as_str);
            world.within(&conversation, &[x, y], &[z]).await
        });
    }
    let responses = tasks.join_all().await;

    let listed = world.listed(&conversation).await;
    assert_eq!(listed.len(), 3 * TASKS);
    let turns: HashSet<&[String]> = listed.chunks(3).collect();
    for task in 0..TASKS {
        let turn = ["x", "y", "z"].map(|part| format!("{task}{part}"));
        assert!(turns.contains(&turn[..]), "turn {task} in one piece");
    }
    for response in responses {
        assert_eq!(world.input(&response).await.len(), 2);
        assert_eq!(world.output(&response).await.len(), 1);
    }
}

pub(crate) async fn failed_call_does_not_affect_others(world: World) {
    let conversation = world.conversation(&["taken"]).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (world, conversation) = (world.clone(), conversation.clone());
        tasks.spawn(async move {
            let name = task.to_string();
            let names = match task % 4 {
                0 => vec![name.as_str(), "taken"],
                _ => vec![name.as_str()],
            };
            (task, world.append(&conversation, &names).await)
        });
    }
    for (task, outcome) in tasks.join_all().await {
        if task % 4 == 0 {
            assert_eq!(outcome, Err(StoreError::DuplicateItem(item_id("taken"))));
        } else {
            assert_eq!(outcome, Ok(()));
        }
    }

    let listed: HashSet<String> = world.listed(&conversation).await.into_iter().collect();
    let expected = (0..TASKS)
        .filter(|task| task % 4 != 0)
        .map(|task| task.to_string())
        .chain(["taken".to_owned()]);
    assert_eq!(listed, expected.collect());
}

pub(crate) async fn one_of_many_concurrent_turns_appends(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (world, first) = (world.clone(), first.clone());
        tasks.spawn(async move {
            let name = task.to_string();
            (world.after(&first, &[&name], &[]).await, name)
        });
    }
    let root = world.end(&first).await.thread;
    let mut appended = 0;
    for (response, name) in tasks.join_all().await {
        assert_eq!(world.transcript(&response).await, ["a", "b", &name]);
        appended += usize::from(world.end(&response).await.thread == root);
    }
    assert_eq!(appended, 1);
}

pub(crate) async fn closed_store_has_written_all_and_rejects_calls(world: World) {
    let conversation = world.conversation(&[]).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (world, conversation) = (world.clone(), conversation.clone());
        tasks.spawn(async move { world.append(&conversation, &[&task.to_string()]).await });
    }
    tokio::task::yield_now().await;

    world.store.close().await;

    let answers = tasks.join_all().await;
    for refused in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(refused, StoreError::Unavailable(_)));
    }
    let tenant = &world.tenant;
    let read = world.store.conversation(tenant, &conversation).await;
    assert!(matches!(read, Err(StoreError::Unavailable(_))));
    let (_, turn) = world.turn(Destination::Conversation(conversation), &["late"], &[]);
    assert!(matches!(world.commit(turn).await, Err(StoreError::Unavailable(_))));
    world.store.close().await;
}
