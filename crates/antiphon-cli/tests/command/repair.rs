//! `antiphon repair`: what is written, byte for byte, and what is told of it.

use crate::world::{Ended, World};

const CALL: &str =
    r#"{ "type": "function_call","id":"fc_1", "call_id":"call_1","name":"f","arguments":"{}" }"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"call_1","output":"ok"}"#;
const USER: &str = r#"{"role":"user","content":"h\u0069","n":1e2,"big":9007199254740993}"#;
const THOUGHT: &str = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
const MADE_UP: &str = concat!(
    r#"{"type":"function_call_output","call_id":"call_1","#,
    r#""output":"No output was recorded for this call."}"#,
);

const ANSWERED: &str =
    "1 fc_1 unanswered_call answered No tool output found for function call call_1.\n";
const LONE: &str = "1 rs_1 lone_reasoning dropped Item 'rs_1' of type 'reasoning' was provided \
                    without its required following item.\n";

fn repair(args: &[&str], input: &str) -> Ended {
    World::antiphon(&[&["repair"], args].concat()).input(input).ends()
}

fn assert_mended(args: &[&str], input: &str, output: &str, report: &str) {
    let mended = Ended { code: Some(0), stdout: output.to_owned(), stderr: report.to_owned() };
    assert_eq!(repair(args, input), mended);
}

#[test]
fn valid_history_is_written_byte_for_byte() {
    let shapes = [
        format!("[{USER} ,\n\t{CALL},{OUTPUT}]"),
        format!("\r\n {{ \"b\" : 1e2, \"input\":[ {USER} ] ,\"b\":[ ]}}\r\n\n"),
        format!(r#"{{"items" : [{USER}], "data": 7}}"#),
        format!(r#"{{"object":"list","data":[{OUTPUT},{CALL},{USER}],"has_more":false}}"#),
        r#"{"input" : "H\u0065llo", "previous_response_id":"resp_1"}"#.to_owned(),
    ];
    for shape in shapes {
        assert_mended(&[], &shape, &shape, "");
    }
}

#[test]
fn repaired_request_keeps_all_other_bytes() {
    let request = |items: &str| {
        format!("{{ \"n\": 1e2,\n  \"input\": [\n    {items}\n  ],\n  \"tools\": [ ] }}\n")
    };
    let given = request(&format!("{USER},\n    {CALL}"));
    let expected = request(&format!("{USER},\n    {CALL},\n    {MADE_UP}"));
    assert_mended(&[], &given, &expected, ANSWERED);
}

#[test]
fn every_shape_comes_back_as_it_came() {
    let shapes: [fn(&str) -> String; 4] = [
        |items| format!("[{items}]"),
        |items| format!(r#"{{"model":"m","input":[{items}]}}"#),
        |items| format!(r#"{{"id":"conv_1","items":[{items}],"z":0}}"#),
        |items| format!(r#"{{"object":"list","data":[{items}],"first_id":"x"}}"#),
    ];
    for shape in shapes {
        let given = shape(&format!("{USER},{THOUGHT},{USER}"));
        assert_mended(&[], &given, &shape(&format!("{USER},{USER}")), LONE);
    }
}

#[test]
fn newest_first_list_keeps_its_order() {
    let list = |items: &str| format!(r#"{{"object":"list","data":[{items}]}}"#);
    let report = "0 fc_1 unanswered_call answered No tool output found for function call call_1.\n";
    let given = list(&format!("{CALL},{USER}"));
    assert_mended(&[], &given, &list(&format!("{MADE_UP},{CALL},{USER}")), report);
}

#[test]
fn report_can_be_json() {
    let report = concat!(
        r#"{"position":1,"id":"fc_1","fault":"unanswered_call","action":"answered","#,
        r#""message":"No tool output found for function call call_1.","#,
        r#""code":null,"param":"input"}"#,
        "\n"
    );
    let given = format!("[{USER},{CALL}]");
    assert_mended(&["--report", "json"], &given, &format!("[{USER},{CALL},{MADE_UP}]"), report);
}

#[test]
fn repaired_history_is_sound() {
    let once = repair(&[], &format!("[{USER},{THOUGHT},{USER},{CALL},{OUTPUT},{OUTPUT}]")).stdout;
    assert_mended(&[], &once, &once, "");
    let checked = World::antiphon(&["check"]).input(&once).ends();
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""));
}

#[test]
fn dropped_reference_excuses_no_output() {
    let seen = r#"{"type":"message","id":"msg_1","role":"assistant","content":"y"}"#;
    let output = r#"{"type":"function_call_output","call_id":"a","output":"1"}"#;
    let reference = |id: &str| format!(r#"{{"type":"item_reference","id":"{id}"}}"#);

    let twice = repair(&[], &format!("[{seen},{},{output}]", reference("msg_1")));
    assert_eq!(twice.stdout, format!("[{seen}]"));
    let dropped = repair(
        &["--policy", "references=drop"],
        &format!("[{},{output},{seen}]", reference("fc_1")),
    );
    assert_eq!(dropped.stdout, format!("[{seen}]"));
}

#[test]
fn ndjson_goes_in_and_out_line_by_line() {
    let given = format!("[{USER}] \n{{\"input\":[{USER},{CALL}]}}\n[{OUTPUT}]");
    let expected = format!("[{USER}] \n{{\"input\":[{USER},{CALL},{MADE_UP}]}}\n[]");
    let report = format!(
        "2:{ANSWERED}3:0 - output_without_call dropped No tool call found for function call output \
         with call_id call_1.\n"
    );
    assert_mended(&["--ndjson"], &given, &expected, &report);
}

#[test]
fn invalid_line_ends_the_command_after_earlier_lines() {
    let given = format!("[{USER},{CALL}]\n[{USER},7]\n[{USER}]\n");
    let ended = repair(&["--ndjson"], &given);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, format!("[{USER},{CALL},{MADE_UP}]\n"));
    let column = 1 + "[,".len() + USER.len();
    let sentence = "item 1: expected an object, but got an integer instead";
    assert_eq!(ended.stderr, format!("1:{ANSWERED}error: <stdin>:2:{column}: {sentence}\n"));
}

#[test]
fn calls_may_be_dropped_with_the_reasoning_before_them() {
    let given = format!("[{USER},{THOUGHT},{CALL}]");
    let report = format!(
        "2 fc_1 unanswered_call dropped No tool output found for function call call_1.\n{LONE}"
    );
    for policy in ["drop", "calls=drop", "reasoning=drop, calls=drop"] {
        assert_mended(&["--policy", policy], &given, &format!("[{USER}]"), &report);
    }
}

#[test]
fn rejecting_policy_reports_the_providers_error() {
    let given = format!("[{USER},{CALL}]");
    for policy in ["reject", "calls=reject"] {
        let ended = repair(&["--policy", policy], &given);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{policy}");
        let sentence =
            "error: 1 fc_1 unanswered_call No tool output found for function call call_1.\n";
        assert_eq!(ended.stderr, sentence);
    }
    assert_mended(&["--policy", "reject"], &format!("[{USER}]"), &format!("[{USER}]"), "");
}

#[test]
fn outputs_may_be_kept_and_references_dropped() {
    let kept = format!("[{OUTPUT}]");
    assert_mended(&["--policy", "outputs=keep"], &kept, &kept, "");
    let given = format!(r#"[{USER},{{"type":"item_reference","id":"msg_1"}}]"#);
    assert_mended(&[], &given, &given, "");
    let ended = repair(&["--policy", "references=drop"], &given);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("[{USER}]")));
    assert!(ended.stderr.starts_with("1 msg_1 unresolved_reference dropped Item with id"));
    assert_eq!(repair(&["--policy", "references=reject"], &given).code, Some(1));
}

#[test]
fn unanswered_held_call_is_answered_first() {
    let ended = World::antiphon(&["repair", "--held", "held.json"])
        .file("held.json", &format!(r#"{{"object":"list","data":[{CALL},{USER}]}}"#))
        .input(r#"{"conversation":"conv_1", "input": "never mind", "n":1e2}"#)
        .ends();
    let user = r#"{"role":"user","content":"never mind"}"#;
    let expected = format!(r#"{{"conversation":"conv_1", "input": [{MADE_UP},{user}], "n":1e2}}"#);
    assert_eq!((ended.code, ended.stdout), (Some(0), expected));
    let report = "- fc_1 unanswered_call answered No tool output found for function call call_1.\n";
    assert_eq!(ended.stderr, report);
}

/// Requests that continue a response with a new answer.
fn requests_with_answers() -> Vec<String> {
    let answers = [
        r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#,
        r#"{"type":"local_shell_call_output","call_id":"call_1","output":"ok"}"#,
        r#"{"type":"computer_call_output","call_id":"call_1","output":{}}"#,
    ];
    let request = |answer| format!(r#"{{"previous_response_id":"resp_1","input":[{answer}]}}"#);
    answers.iter().map(request).collect()
}

#[test]
fn new_answer_to_a_response_is_kept() {
    for request in requests_with_answers() {
        let checked = World::antiphon(&["check"]).input(&request).ends();
        assert_eq!((checked.code, checked.stdout), (Some(0), String::new()), "{request}");
        assert_mended(&[], &request, &request, "");
    }
}

#[test]
fn policy_drops_answers_to_a_response() {
    let approval = &requests_with_answers()[0];
    assert_mended(
        &["--policy", "answers=drop"],
        approval,
        r#"{"previous_response_id":"resp_1","input":[]}"#,
        "0 - duplicate_output dropped The policy 'answers=drop' leaves out approvals and outputs \
         of a local shell. The server may not have this one.\n",
    );
}
