//! The laws that every store keeps, as functions of a [`World`]; `suite!` makes tests of them.

pub(crate) mod background;
pub(crate) mod chains;
pub(crate) mod conversations;
pub(crate) mod deletion;
pub(crate) mod erasure;
pub(crate) mod expiry;
pub(crate) mod items;
pub(crate) mod late_binding;
pub(crate) mod ledgers;
pub(crate) mod listing;
pub(crate) mod model;
pub(crate) mod notices;
pub(crate) mod pending_turns;
pub(crate) mod reopening;
pub(crate) mod requests;
pub(crate) mod snapshots;
pub(crate) mod tenants;
pub(crate) mod together;
pub(crate) mod usage;
pub(crate) mod watches;
pub(crate) mod world;

pub(crate) use world::{QueuePlace, World};

/// Tests of every law for the world that `$given` gives.
macro_rules! suite {
    ($given:path) => {
        conformance::laws! { $given:
            chains {
                a_first_turn_begins_a_thread,
                a_turn_from_the_tip_of_a_chain_appends,
                the_second_turn_from_one_cursor_forks,
                a_fork_may_be_forked,
                a_fork_from_the_middle_sees_nothing_behind_it,
                a_fork_appends_from_its_own_tip,
                naming_a_response_of_a_conversation_forks,
                a_thread_that_was_a_conversations_is_not_appended_to,
                a_turn_without_items_is_recorded,
                a_turn_may_leave_no_record,
                a_turn_behind_what_was_deleted_meanwhile_is_kept,
                a_response_in_a_foreign_shard_is_refused,
            }
            conversations {
                a_conversation_is_kept_as_it_was_given,
                metadata_is_replaced,
                turns_and_appends_go_to_the_end,
                what_is_not_there_is_said_to_be_so,
                a_turn_in_a_deleted_conversation_is_refused,
                a_response_remembers_its_conversation,
            }
            items {
                bytes_and_heads_come_back_as_they_went_in,
                a_long_body_comes_back_whole,
                a_deleted_item_leaves_a_tombstone,
                a_deleted_item_may_be_created_anew,
                deleting_an_item_erases_it_in_every_fork,
                a_duplicate_refuses_all_of_an_append,
                a_duplicate_refuses_the_whole_turn,
                one_id_twice_in_a_turn_is_a_duplicate,
                another_thread_may_hold_the_same_id,
                the_newest_live_copy_is_located,
                an_item_is_located_once_however_often_it_is_asked_for,
            }
            listing {
                pages_run_through_the_whole_list_both_ways,
                a_page_that_ends_the_list_says_so,
                deleted_items_are_not_listed,
                an_unknown_cursor_is_refused,
                a_response_lists_its_own_input_only,
                an_empty_page_tells_whether_there_are_items,
                pages_are_bounded_in_bytes,
            }
            deletion {
                what_only_the_deleted_response_reached_goes,
                what_a_later_response_builds_on_stays,
                what_a_fork_builds_on_stays,
                a_fork_that_goes_takes_what_only_it_reached,
                a_chain_of_forks_goes_whole,
                a_live_conversation_keeps_its_items,
                a_deleted_conversation_leaves_its_responses_readable,
                places_of_deleted_items_are_not_given_again,
            }
            erasure {
                nothing_of_an_erased_tenant_is_left,
                an_erasure_goes_on_in_small_batches,
                what_is_anothers_is_not_erased,
                an_erased_tenant_may_begin_anew,
                of_a_tenant_that_has_nothing_nothing_is_erased,
            }
            expiry {
                the_oldest_responses_expire_first,
                as_many_expire_at_once_as_are_asked_for,
                what_a_later_response_builds_on_does_not_expire_with_an_earlier_one,
                conversations_do_not_expire,
                what_an_open_turn_begins_behind_does_not_expire,
                responses_of_every_tenant_expire,
            }
            pending_turns {
                an_opening_of_this_process_is_not_settled,
                an_opening_shows_nothing,
                an_opening_keeps_what_it_begins_behind,
                a_dropped_opening_lets_go,
                an_opening_has_a_response_and_no_output,
            }
            notices {
                what_is_due_is_claimed_in_order_and_by_one,
                what_was_told_is_forgotten,
                what_failed_is_due_again_when_it_is_put_off_to,
                a_claim_that_ran_out_settles_nothing,
                a_notice_of_an_open_turn_is_not_due,
                the_notices_of_the_end_take_the_place_of_the_openings,
                a_dropped_opening_tells_nobody,
                a_turn_that_is_refused_tells_nobody,
                what_is_to_be_told_of_a_tenant_goes_with_it,
            }
            watches {
                a_watch_is_claimed_by_one_when_it_is_due,
                a_watch_is_put_off,
                a_watch_ends_once_and_leaves_its_notices,
                a_watch_that_nobody_claimed_ends_as_committed,
                webhooks_do_not_claim_watches,
                watches_of_an_erased_tenant_are_gone,
            }
            requests {
                the_newest_turns_of_a_request_are_found,
                a_request_is_known_in_its_tenant_and_shard_only,
                an_open_turn_is_found_by_its_request,
                a_last_turn_is_taken_back_and_can_still_be_gone_on_from,
                a_turn_is_taken_back_once,
                what_did_not_come_last_is_not_taken_back,
                what_somebody_went_on_from_is_not_taken_back,
                who_goes_on_from_a_turn_that_is_taken_back_meanwhile_goes_on_from_all_of_it,
                a_turn_without_a_record_goes_when_it_is_taken_back,
                a_turn_of_another_tenant_is_not_taken_back,
                a_deleted_response_takes_what_was_taken_back_along,
            }
            background {
                a_job_is_open_until_its_turn_is_committed,
                events_are_read_in_pages_from_any_number_on,
                a_page_has_a_bound_of_bytes,
                an_event_is_logged_once,
                a_job_that_has_ended_takes_no_more,
                a_turn_that_cannot_be_committed_leaves_its_job_open,
                what_was_released_is_taken_up_once,
                a_job_keeps_what_it_goes_on_from_until_it_has_ended,
                a_job_that_ends_apart_lets_go_of_what_it_went_on_from,
                a_cancelled_job_is_known_to_its_process,
                a_log_expires_in_batches_and_its_response_stays,
                a_deleted_response_takes_its_log_along,
                the_job_of_another_tenant_does_not_exist,
            }
            tenants {
                what_is_anothers_does_not_exist,
                what_is_anothers_cannot_be_changed,
                two_tenants_may_use_the_same_ids,
            }
            usage {
                tenant_without_items_uses_nothing,
                bytes_and_items_of_live_items_count,
                deleting_an_item_frees_it,
                fork_counts_shared_items_once,
                each_thread_counts_its_own_copy,
                conversation_counts_its_own_items_only,
                retracted_turn_counts_for_its_tenant_only,
                deleted_conversation_counts_until_its_responses_go,
                expired_responses_free_their_items,
                items_elsewhere_count_without_bytes,
                refused_writes_count_nothing,
                erased_tenant_uses_nothing,
                open_turns_do_not_count,
                concurrent_writes_are_all_counted,
            }
            together {
                turns_of_many_tasks_stay_whole,
                a_call_that_fails_hurts_no_other,
                of_many_turns_from_one_cursor_one_appends,
                a_closed_store_has_written_all_and_takes_no_more,
            }
            late_binding {
                conversation_without_upstream_is_pending,
                bound_conversation_is_ledger_of_provider,
                conversation_is_bound_once,
                of_many_bindings_one_counts,
                conversation_that_stays_here_cannot_be_bound,
                deleted_conversation_cannot_be_bound,
                deletion_of_bound_conversation_frees_its_name,
            }
            ledgers {
                a_conversation_is_adopted_once,
                of_many_that_adopt_at_once_all_get_one_ledger,
                an_announced_response_is_in_doubt_until_its_turn_is_committed,
                a_turn_that_ends_in_doubt_leaves_its_ledgers_in_doubt,
                a_turn_whose_response_was_never_told_has_no_name,
                a_request_on_its_way_puts_a_conversation_in_doubt,
                what_is_relearned_takes_the_place_of_what_was_known,
                what_nobody_reaches_after_relearning_goes,
                a_refused_relearning_changes_nothing,
                of_two_responses_under_one_name_the_later_counts,
                a_background_turn_enters_its_name,
                a_response_has_one_name,
                a_dropped_opening_takes_its_name_along,
                what_is_forgotten_is_deleted,
                what_is_deleted_or_expires_takes_its_name_along,
                whatever_a_provider_calls_them_they_are_found,
                the_ledgers_of_another_tenant_do_not_exist,
                what_is_elsewhere_is_known_by_its_traces,
                what_is_elsewhere_is_no_copy_to_send,
                a_ledger_is_told_from_what_is_kept_here,
                what_a_model_made_is_told_from_what_was_said,
            }
            model {
                whatever_happens_the_store_agrees_with_a_naive_one,
            }
        }
    };
}

/// Tests of the laws about what outlives the process.
macro_rules! durable_suite {
    ($given:path) => {
        conformance::laws! { $given:
            reopening {
                what_was_answered_is_there_after_the_process_died,
                a_closed_store_has_written_what_it_answered,
                what_is_kept_by_name_is_kept,
                a_turn_that_was_settled_can_be_taken_back,
                an_open_turn_whose_process_died_is_settled_when_it_is_asked_for,
                openings_are_settled_in_order,
                a_committed_turn_is_not_settled_again,
                an_opening_that_cannot_be_committed_is_dropped,
                an_opening_is_settled_behind_its_cursor,
                openings_of_every_tenant_are_settled,
                new_openings_are_not_taken_for_old_ones,
                an_open_job_whose_process_died_is_taken_up,
                what_a_dead_process_left_open_is_told_once_it_is_settled,
                ledgers_outlive_the_process,
                what_is_settled_leaves_its_ledgers_in_doubt,
            }
            snapshots {
                a_snapshot_shows_what_was_held_when_it_was_taken,
                a_snapshot_shows_turns_that_are_open,
                items_of_no_response_are_shown_too,
                ledgers_are_shown_page_by_page,
                a_long_thread_is_shown_page_by_page,
                large_items_are_shown_one_by_one,
                tenants_are_found_by_name,
                what_is_kept_by_name_is_shown,
            }
        }
    };
}

macro_rules! laws {
    ($given:path: $($group:ident { $($law:ident,)* })*) => {
        $(
            mod $group {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $law() {
                        crate::conformance::$group::$law($given().await).await;
                    }
                )*
            }
        )*
    };
}

pub(crate) use {durable_suite, laws, suite};
