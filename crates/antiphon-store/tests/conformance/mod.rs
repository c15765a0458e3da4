//! The laws that every store keeps, as functions of a [`World`]; `suite!` makes tests of them.

pub(crate) mod background;
pub(crate) mod chains;
pub(crate) mod contents;
pub(crate) mod conversations;
pub(crate) mod copies;
pub(crate) mod deletion;
pub(crate) mod erasure;
pub(crate) mod expiry;
pub(crate) mod items;
pub(crate) mod late_binding;
pub(crate) mod ledgers;
pub(crate) mod listing;
pub(crate) mod model;
pub(crate) mod newest;
pub(crate) mod notices;
pub(crate) mod pending_turns;
pub(crate) mod reopening;
pub(crate) mod requests;
pub(crate) mod restoring;
pub(crate) mod snapshots;
pub(crate) mod tenants;
pub(crate) mod together;
pub(crate) mod usage;
pub(crate) mod watches;
pub(crate) mod world;

pub(crate) use world::{StoreLocation, World};

/// Tests of every law for the world that `$given` gives.
macro_rules! suite {
    ($given:path) => {
        conformance::laws! { $given:
            chains {
                first_turn_begins_a_thread,
                response_is_committed_once,
                turn_at_the_tip_appends,
                second_turn_from_one_cursor_forks,
                fork_can_be_forked,
                fork_from_the_middle_has_no_later_items,
                fork_appends_from_its_own_tip,
                continuing_a_response_of_a_conversation_forks,
                thread_of_a_deleted_conversation_is_not_appended_to,
                turn_without_items_is_recorded,
                turn_can_leave_no_record,
                turn_after_a_deleted_response_is_stored,
                response_in_another_shard_is_rejected,
                response_is_recorded_once,
            }
            conversations {
                conversation_is_stored_as_given,
                metadata_is_replaced,
                turns_and_appends_go_to_the_end,
                missing_conversation_is_reported,
                turn_in_deleted_conversation_is_rejected,
                response_names_its_conversation,
            }
            items {
                bytes_and_heads_are_returned_unchanged,
                long_body_is_returned_unchanged,
                deleted_item_leaves_a_tombstone,
                deleted_item_can_be_created_again,
                deleting_an_item_erases_it_in_every_fork,
                duplicate_rejects_the_whole_append,
                duplicate_rejects_the_whole_turn,
                repeated_id_in_a_turn_is_a_duplicate,
                another_thread_can_have_the_same_id,
                newest_live_copy_is_located,
                repeated_id_is_located_once,
            }
            listing {
                pages_cover_the_list_in_both_orders,
                last_page_has_no_more,
                deleted_items_are_not_listed,
                unknown_cursor_is_rejected,
                response_lists_only_its_own_input,
                empty_page_reports_more_items,
                pages_have_a_byte_limit,
                long_items_are_on_pages_of_their_own,
            }
            newest {
                newest_responses_come_first,
                newest_responses_continue_at_a_position,
                many_responses_are_listed_in_pages,
                newest_conversations_come_first,
                tree_has_forks_and_names,
                responses_of_a_thread_are_in_order,
                tree_has_open_turns_and_ledgers,
                other_tenants_are_not_listed,
            }
            deletion {
                unreachable_items_are_deleted_with_their_response,
                items_of_a_later_response_stay,
                items_of_a_fork_stay,
                transcript_read_before_a_change_is_not_read_again,
                deleted_fork_frees_its_unreachable_items,
                chain_of_forks_is_deleted_completely,
                live_conversation_keeps_its_items,
                responses_of_deleted_conversation_stay_readable,
                positions_of_deleted_items_are_not_reused,
            }
            erasure {
                erased_tenant_has_no_data,
                erasure_continues_in_small_batches,
                other_tenants_are_not_erased,
                erased_tenant_can_begin_again,
                tenant_without_data_erases_nothing,
            }
            expiry {
                oldest_responses_expire_first,
                expiry_respects_its_limit,
                items_of_a_later_response_do_not_expire,
                conversations_do_not_expire,
                items_before_a_pending_turn_do_not_expire,
                responses_of_every_tenant_expire,
            }
            pending_turns {
                own_pending_turn_is_not_settled,
                pending_turn_is_invisible_to_readers,
                pending_turn_keeps_the_items_before_it,
                dropped_pending_turn_frees_its_items,
                turn_committed_elsewhere_frees_the_items_before_it,
                pending_turn_requires_response_without_output,
            }
            notices {
                due_notices_are_claimed_once_in_order,
                delivered_notice_is_deleted,
                failed_notice_is_due_again_later,
                expired_claim_settles_nothing,
                notice_of_pending_turn_is_not_due,
                notices_of_the_commit_replace_pending_ones,
                dropped_pending_turn_has_no_notices,
                rejected_turn_has_no_notices,
                notices_of_erased_tenant_are_deleted,
            }
            watches {
                due_watch_is_claimed_once,
                watch_can_be_put_off,
                watch_ends_once_and_stores_its_notices,
                unclaimed_watch_can_end,
                webhooks_do_not_claim_watches,
                watches_of_erased_tenant_are_deleted,
            }
            requests {
                newest_turns_of_a_request_are_found,
                retry_finds_the_thread_of_its_first_attempt,
                request_is_found_in_its_tenant_and_shard_only,
                pending_turn_is_found_by_its_request,
                retracted_turn_can_be_continued,
                turn_is_retracted_once,
                only_the_last_turn_is_retracted,
                continued_turn_is_not_retracted,
                continuation_of_retracted_turn_keeps_its_items,
                retracted_turn_without_record_is_deleted,
                turn_of_another_tenant_is_not_retracted,
                deleting_a_retracted_response_deletes_its_items,
            }
            background {
                job_is_open_until_its_commit,
                event_pages_start_at_any_number,
                event_page_has_a_byte_limit,
                repeated_event_is_logged_once,
                ended_job_rejects_events,
                failed_commit_leaves_the_job_open,
                released_job_is_claimed_once,
                open_job_keeps_the_items_before_it,
                job_that_ends_elsewhere_frees_its_items,
                cancelled_job_is_reported_to_its_process,
                event_log_expires_in_batches_without_its_response,
                deleted_response_deletes_its_log,
                job_of_another_tenant_is_not_found,
            }
            tenants {
                data_of_another_tenant_is_not_found,
                data_of_another_tenant_cannot_be_changed,
                two_tenants_can_use_the_same_ids,
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
                concurrent_turns_stay_complete,
                failed_call_does_not_affect_others,
                one_of_many_concurrent_turns_appends,
                closed_store_has_written_all_and_rejects_calls,
            }
            late_binding {
                conversation_without_upstream_is_pending,
                bound_conversation_is_ledger_of_provider,
                conversation_is_bound_once,
                one_of_many_concurrent_bindings_succeeds,
                local_conversation_cannot_be_bound,
                deleted_conversation_cannot_be_bound,
                deletion_of_bound_conversation_frees_its_name,
            }
            ledgers {
                conversation_is_adopted_once,
                concurrent_adoptions_return_one_ledger,
                announced_response_is_stale_until_its_commit,
                stale_turn_leaves_its_ledgers_stale,
                turn_without_upstream_id_has_no_name,
                request_in_flight_marks_the_ledger_stale,
                resync_replaces_the_items,
                unreachable_items_are_deleted_after_resync,
                rejected_resync_changes_nothing,
                later_response_takes_over_a_name,
                background_turn_records_its_name,
                response_has_one_name,
                dropped_pending_turn_frees_its_name,
                forgotten_ledger_is_deleted,
                deletion_and_expiry_free_the_name,
                any_provider_id_is_found,
                ledgers_of_another_tenant_are_not_found,
                item_stored_elsewhere_has_its_head,
                item_stored_elsewhere_is_not_located,
                ledger_differs_from_local_conversation,
                generated_items_differ_from_input,
            }
            copies {
                copy_of_a_turn_is_returned,
                committed_turn_replaces_the_copy_of_its_pending_turn,
                expired_copies_are_deleted,
                oldest_copies_of_a_tenant_make_room,
            }
            restoring {
                conversation_is_restored_at_its_positions,
                restored_conversation_exists,
                fork_is_restored_with_its_lineage,
                cancelled_restoration_changes_nothing,
                other_conversation_with_the_id_is_a_conflict,
                item_at_a_taken_position_is_a_conflict,
                repeated_item_rejects_the_whole_conversation,
                repeated_item_in_front_rejects_the_whole_conversation,
                items_beyond_the_room_restore_nothing,
                conversation_of_another_tenant_is_no_conflict,
                restored_ledger_is_stale,
                resynced_ledger_exists,
                conversation_without_upstream_is_restored_pending,
            }
            model {
                store_equals_its_model_after_any_history,
            }
        }
    };
}

/// Tests of durability: data that survives the process.
macro_rules! durable_suite {
    ($given:path) => {
        conformance::laws! { $given:
            reopening {
                acknowledged_writes_outlive_the_process,
                closed_store_has_written_acknowledged_writes,
                named_value_outlives_the_process,
                settled_turn_can_be_retracted,
                first_attempts_are_found_after_a_restart,
                lookup_settles_a_turn_of_a_dead_process,
                pending_turns_are_settled_in_order,
                committed_turn_is_not_settled_again,
                uncommittable_pending_turn_is_dropped,
                pending_turn_is_settled_at_its_cursor,
                pending_turns_of_every_tenant_are_settled,
                new_pending_turns_are_not_settled,
                open_job_of_a_dead_process_is_claimed,
                notices_of_a_settled_turn_become_due,
                ledgers_outlive_the_process,
                settled_turn_leaves_its_ledgers_stale,
                settled_turn_keeps_its_copy,
            }
            snapshots {
                snapshot_shows_the_state_at_its_start,
                snapshot_shows_pending_turns,
                loose_items_are_shown,
                thread_of_a_fork_is_shown,
                conversation_without_upstream_is_shown,
                ledgers_are_shown_page_by_page,
                long_thread_is_shown_page_by_page,
                large_items_are_shown_one_by_one,
                tenants_are_listed_by_name,
                named_value_is_shown,
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
