//! Histories that cannot be read and options that mean nothing: exit code 2, a sentence on standard
//! error, nothing on standard output.

use crate::world::{Ended, World};

fn refused(world: World, sentence: &str) {
    let stderr = format!("error: {sentence}\n");
    assert_eq!(world.ends(), Ended { code: Some(2), stdout: String::new(), stderr });
}

#[test]
fn bad_json_is_refused_with_its_place() {
    let cases = [
        ("", "1:1: this is not JSON: EOF while parsing a value"),
        ("[\n  {\"role\": \"user\"},\n  nope\n]", "3:4: this is not JSON: expected ident"),
        ("[]\n[]", "2:1: this is not JSON: trailing characters"),
    ];
    for command in ["check", "repair"] {
        for (text, sentence) in cases {
            let world = World::antiphon(&[command, "h.json"]).file("h.json", text);
            refused(world, &format!("h.json:{sentence}"));
            refused(World::antiphon(&[command]).input(text), &format!("<stdin>:{sentence}"));
        }
    }
}

#[test]
fn invalid_history_is_rejected_with_its_position() {
    let no_history = "not a history: give an array of items or messages, a request with \
                      'input' or 'messages', or a conversation with 'items' or 'data'";
    let cases = [
        ("\n 7", format!("2:2: {no_history}")),
        ("{\"model\":\"m\"}", format!("1:1: {no_history}")),
        ("{\"input\": null}", "1:11: 'input' is neither a string nor an array of items".to_owned()),
        ("{\"items\": {}}", "1:11: 'items' is not an array of items".to_owned()),
        ("{\"data\": \"x\"}", "1:10: 'data' is not an array of items".to_owned()),
        (
            "[\n {\"role\":\"user\"},\n {}]",
            "3:2: item 1: missing required parameter 'type'".to_owned(),
        ),
    ];
    for (text, sentence) in cases {
        refused(World::antiphon(&["check"]).input(text), &format!("<stdin>:{sentence}"));
    }
}

#[test]
fn missing_file_is_rejected() {
    for args in [&["check", "absent.json"][..], &["repair", "--held", "absent.json"]] {
        let ended = World::antiphon(args).input("[]").ends();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let sentence = "error: absent.json cannot be read: ";
        assert!(ended.stderr.starts_with(sentence), "{}", ended.stderr);
    }
}

#[test]
fn invalid_held_file_is_named() {
    let world = World::antiphon(&["check", "--held", "held.json"]).file("held.json", "[7]");
    let sentence = "held.json:1:2: item 0: expected an object, but got an integer instead";
    refused(world.input("[]"), sentence);
}

#[test]
fn unknown_policy_error_lists_the_policies() {
    for (policy, unknown) in [("mend", "mend"), ("calls=keep", "calls=keep"), ("", "")] {
        let sentence = format!(
            "--policy: '{unknown}' is unknown; the policies are repair, drop, reject, \
             orphaned-reasoning, or of calls=answer|drop|reject, reasoning=drop|reject, \
             outputs=drop|keep|reject, references=keep|drop|reject, answers=keep|drop, \
             ids=add|drop|reject those that \
             differ, separated by commas"
        );
        refused(World::antiphon(&["repair", "--policy", policy]).input("[]"), &sentence);
    }
}

#[test]
fn unknown_report_form_is_rejected() {
    let world = World::antiphon(&["check", "--report", "xml"]).input("[]");
    refused(world, "--report: 'xml' is neither 'text' nor 'json'");
}

#[test]
fn orphaned_reasoning_policy_rejects_held() {
    let args = ["repair", "--policy", "orphaned-reasoning", "--held", "held.json"];
    let sentence = "--policy orphaned-reasoning leaves out nothing that a server holds; give it \
                    without --held";
    refused(World::antiphon(&args).file("held.json", "[]").input("[]"), sentence);
}

#[test]
fn the_help_lists_every_policy() {
    let help = World::antiphon(&["repair", "--help"]).ends().stdout;
    let policies = ["repair", "drop", "reject", "orphaned-reasoning", "calls=", "reasoning="];
    for policy in policies.iter().chain(&["outputs=", "references=", "answers="]) {
        assert!(help.contains(policy), "{policy}: {help}");
    }
}
