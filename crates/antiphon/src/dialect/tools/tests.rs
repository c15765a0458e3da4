//! The tools of a request, and their flat names.

use serde_json::{Value, json};

use super::*;
use crate::dialect::{Request, UpstreamApi};
use crate::transcript::Origin;

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": "d", "defer_loading": true})
}

fn namespace(name: &str, tools: &[Value]) -> Value {
    json!({"type": "namespace", "name": name, "description": "About.", "tools": tools})
}

/// The tools, by path and definition.
fn sent(tools: &Value) -> Vec<(String, Value)> {
    let text = json!({"tools": tools}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let declared = DeclaredTools::from_request(&fields, &[]).unwrap();
    let sent = declared.tools.iter().map(|tool| {
        let definition = serde_json::from_str(&tool.definition.to_text()).unwrap();
        (tool.path.clone(), definition)
    });
    sent.collect()
}

fn names(tools: &Value) -> Vec<String> {
    let name = |(_, tool): (String, Value)| tool["name"].as_str().unwrap_or_default().to_owned();
    sent(tools).into_iter().map(name).collect()
}

#[test]
fn functions_of_namespace_get_flat_names() {
    let tools = json!([function("a"), namespace("crm", &[function("b"), function("c")])]);
    let flat =
        |name: &str, about: &str| json!({"type": "function", "name": name, "description": about});
    let expected = [
        ("tools[0]".to_owned(), flat("a", "d")),
        ("tools[1].tools[0]".to_owned(), flat("crm__b", "About.\n\nd")),
        ("tools[1].tools[1]".to_owned(), flat("crm__c", "d")),
    ];
    assert_eq!(sent(&tools), expected);
}

#[test]
fn separator_is_not_doubled() {
    assert_eq!(names(&json!([namespace("mcp__git__", &[function("log")])])), ["mcp__git__log"]);
}

#[test]
fn flat_names_are_valid_and_unique() {
    let long = "n".repeat(60);
    let tools = json!([
        function("crm__b"),
        namespace("crm", &[function("b"), function("é b")]),
        namespace(&long, &[function("first"), function("second")]),
        namespace("a", &[function("b__c")]),
        namespace("a__b", &[function("c")]),
    ]);
    let names = names(&tools);
    let distinct: HashSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    for name in &names {
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        assert!(name.len() <= 64 && name.chars().all(is_valid), "{name}");
    }
}

#[test]
fn flat_name_does_not_depend_on_other_tools() {
    let long = "n".repeat(60);
    let alone = names(&json!([namespace(&long, &[function("first")])]));
    let among =
        names(&json!([function("x"), namespace(&long, &[function("y"), function("first")])]));
    assert_eq!(alone[0], among[2]);
}

#[test]
fn flat_name_leads_back_to_namespace_and_name() {
    let text =
        json!({"tools": [function("crm__b"), namespace("crm", &[function("b")])]}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let names = DeclaredTools::from_request(&fields, &[]).unwrap().names;
    let flat = names.flatten("crm", "b");
    assert_ne!(flat, "crm__b");
    let tool = names.find(&flat).unwrap();
    assert_eq!((&*tool.namespace, &*tool.name), ("crm", "b"));
    assert!(names.find("crm__b").is_none());
    assert_eq!(names.flatten("gone", "tool"), "gone__tool");
}

#[test]
fn choice_may_leave_out_namespace() {
    let text = json!({"tools": [
        function("a"),
        namespace("crm", &[function("b"), function("a"), function("c")]),
        namespace("erp", &[function("c")]),
    ]})
    .to_string();
    let fields = Object::parse_str(&text).unwrap();
    let declared = DeclaredTools::from_request(&fields, &[]).unwrap();
    for (choice, expected) in [
        (json!({"name": "a"}), "a"),
        (json!({"name": "a", "namespace": "crm"}), "crm__a"),
        (json!({"name": "b"}), "crm__b"),
        (json!({"name": "c"}), "c"),
        (json!({"name": "c", "namespace": "erp"}), "erp__c"),
    ] {
        assert_eq!(
            declared.chosen_name(&Object::parse_str(&choice.to_string()).unwrap()),
            expected,
            "{choice}"
        );
    }
}

#[test]
fn hosted_tools_are_listed_apart() {
    let kinds =
        ["web_search", "web_search_preview_2025_03_11", "mcp", "tool_search", "acme:search"];
    let tools: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind})).collect();
    let text = json!({"tools": tools}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let declared = DeclaredTools::from_request(&fields, &[]).unwrap();
    assert!(declared.tools.is_empty());
    let hosted: Vec<&str> = declared.hosted.iter().map(|tool| &*tool.kind).collect();
    assert_eq!(hosted, kinds);
    assert_eq!(names(&json!([{"type": "local_shell"}, {"type": "web_searching"}])), ["", ""]);
}

#[test]
fn invalid_definitions_are_named_by_path() {
    for (tools, expected) in [
        (json!(7), InvalidTools::NotAnArray("tools".into())),
        (json!([7]), InvalidTools::NotAnObject("tools[0]".into())),
        (json!([{"type": "namespace"}]), InvalidTools::Nameless("tools[0]".into())),
        (
            json!([{"type": "namespace", "name": "n", "tools": [7]}]),
            InvalidTools::NotAnObject("tools[0].tools[0]".into()),
        ),
    ] {
        let text = json!({"tools": tools}).to_string();
        let fields = Object::parse_str(&text).unwrap();
        assert_eq!(DeclaredTools::from_request(&fields, &[]).err(), Some(expected));
    }
}

fn search() -> Value {
    json!({"type": "tool_search", "execution": "client", "description": "Finds.",
        "parameters": {"type": "object"}})
}

/// The output of a search that found these tools.
fn found(tools: &Value) -> Item {
    let output = json!({"type": "tool_search_output", "call_id": "call_1", "tools": tools});
    Item::parse(output.to_string().into()).unwrap()
}

#[test]
fn client_search_is_sent_as_function() {
    let expected = json!({"type": "function", "name": "tool_search", "description": "Finds.",
        "parameters": {"type": "object"}});
    assert_eq!(sent(&json!([search()])), [("tools[0]".to_owned(), expected)]);
}

#[test]
fn client_search_is_left_out_if_its_name_is_taken() {
    let text = json!({"tools": [search(), function("tool_search")]}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let declared = DeclaredTools::from_request(&fields, &[]).unwrap();
    assert!(!declared.has_client_search);
    assert_eq!(declared.tools.len(), 1);
    assert_eq!(declared.hosted[0].kind, "tool_search");
}

#[test]
fn found_tools_follow_those_of_the_request() {
    let text = json!({"tools": [function("a"), search()]}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let items = [
        found(&json!([function("a"), namespace("crm", &[function("b")])])),
        found(&json!([namespace("crm", &[function("b"), function("c")]), {"type": "computer"}])),
        found(&json!("no list")),
    ];
    let declared = DeclaredTools::from_request(&fields, &items).unwrap();
    let names: Vec<_> = declared.tools.iter().filter_map(DeclaredTool::name).collect();
    assert_eq!(names, ["a", "tool_search", "crm__b", "crm__c"]);
    assert_eq!(declared.hosted[0].path, "input[1].tools[1]");
}

#[test]
fn provider_search_stays_record() {
    let item = |text: &'static str| Item::parse(text.into()).unwrap();
    let items = [
        item(r#"{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{}}"#),
        item(r#"{"type":"tool_search_output","tools":[{"type":"function","name":"f"}]}"#),
    ];
    let fields = Object::default();
    let declared = DeclaredTools::from_request(&fields, &items).unwrap();
    assert!(declared.tools.is_empty());
    assert_eq!(&*as_functions(&items, &declared.names), &items);
}

#[test]
fn arguments_that_are_no_json_stay_text_and_return_unchanged() {
    for (input, arguments) in [(r#"{"query":"x"}"#, r#"{"query":"x"}"#), ("{x", r#""{x""#)] {
        let call = search_call("call_1", &search_arguments(&quote(input)));
        assert_eq!(call.get("arguments"), Some(arguments));
        let items = [Item::parse(call.to_bytes()).unwrap()];
        let sent = as_functions(&items, &FlatNames::default());
        assert_eq!(sent[0].object().string("arguments").as_deref(), Some(input));
        assert_eq!(sent[0].object().string("call_id").as_deref(), Some("call_1"));
    }
    assert_eq!(search_arguments(r#""""#), "{}");
    assert_eq!(search_arguments(r#""\ud800""#), r#""\ud800""#);
}

#[test]
fn output_names_what_was_found() {
    let sentence = |output: &Value| {
        let item = Item::parse(output.to_string().into()).unwrap();
        let sent = as_functions(std::slice::from_ref(&item), &FlatNames::default()).into_owned();
        sent[0].object().string("output").unwrap().into_owned()
    };
    let output = |status: &str, tools: &Value| {
        let kind = "tool_search_output";
        json!({"type": kind, "call_id": "c", "status": status, "tools": tools})
    };
    let tools = json!([function("a"), "no tool", function("a"), {"type": "mcp", "name": "m"},
        namespace("crm", &[function("b")]), {"type": "function"}]);
    assert_eq!(sentence(&output("completed", &tools)), "Tools found: a, crm__b.");
    assert_eq!(sentence(&output("completed", &json!([]))), "No tools were found.");
    let unanswered = sentence(&output("incomplete", &json!([])));
    assert_eq!(unanswered, "No output was recorded for this call.");
}

#[test]
fn found_tool_that_cannot_be_sent_is_left_out() {
    let text = json!({"model": "m", "tools": [search()]}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let grammar = json!({"type": "custom", "name": "c", "format": {"type": "json"}});
    let call = search_call("call_1", "{}");
    let items = [Item::parse(call.to_bytes()).unwrap(), found(&json!([grammar, function("a")]))];
    let origin = Origin::new("host m");
    let request = Request { fields: &fields, items: &items, origin: &origin };
    let encoded = UpstreamApi::Chat.encoder().unwrap()(request).unwrap();
    let places: Vec<String> = encoded.omissions.iter().map(|it| it.place.to_string()).collect();
    assert_eq!(places, ["input[1].tools[0]"]);
}

#[test]
fn found_tools_need_a_search_in_the_request() {
    let fields = Object::default();
    let declared = DeclaredTools::from_request(&fields, &[found(&json!([function("a")]))]).unwrap();
    assert!(declared.tools.is_empty());
}

#[test]
fn found_tool_does_not_replace_the_search() {
    let text = json!({"tools": [search(), search()]}).to_string();
    let fields = Object::parse_str(&text).unwrap();
    let items = [found(&json!([function("tool_search"), "no tool", function("a")]))];
    let declared = DeclaredTools::from_request(&fields, &items).unwrap();
    let names: Vec<_> = declared.tools.iter().filter_map(DeclaredTool::name).collect();
    assert_eq!(names, ["tool_search", "a"]);
    let left_out: Vec<&str> = declared.hosted.iter().map(|tool| &*tool.path).collect();
    assert_eq!(left_out, ["tools[1]", "input[0].tools[0]"]);
}

#[test]
fn client_search_can_be_the_only_allowed_tool() {
    let allowed = json!({"type": "allowed_tools", "mode": "required",
        "tools": [{"type": "tool_search"}]});
    let text = json!({"model": "m", "tools": [function("a"), search()], "tool_choice": allowed});
    let text = text.to_string();
    let fields = Object::parse_str(&text).unwrap();
    let items = [Item::parse(r#"{"role":"user","content":"Hello"}"#.into()).unwrap()];
    let origin = Origin::new("host m");
    for (api, forced) in
        [(UpstreamApi::Chat, json!("required")), (UpstreamApi::Anthropic, json!({"type": "any"}))]
    {
        let request = Request { fields: &fields, items: &items, origin: &origin };
        let encoded = api.encoder().unwrap()(request).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let [tool] = &body["tools"].as_array().unwrap()[..] else { panic!("{body}") };
        assert_eq!(tool.get("function").unwrap_or(tool)["name"], "tool_search");
        assert_eq!(body["tool_choice"], forced);
    }
}
