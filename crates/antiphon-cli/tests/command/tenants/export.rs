//! `antiphon export`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Kept, ask, id, is_busy, lines};

/// The lines of this kind.
fn of<'a>(lines: &'a [Value], object: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["object"] == object).collect()
}

#[test]
fn export_contains_only_the_tenants_data() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    is_busy(&serving, "key-of-globex", "blue");
    let get = |path: &str| ask(&serving, "key-of-acme", "GET", path, &Value::Null);

    let ended = kept.antiphon(&["export", "--tenant", "acme"]);

    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(!ended.stdout.contains("blue"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("delete me"), "{}", ended.stdout);
    let lines = lines(&ended.stdout);
    assert_eq!(lines[0], json!({"object": "export", "version": 2, "tenant": "acme"}));
    let end = json!({"object": "export.end", "lines": lines.len() - 1});
    assert_eq!(lines.last(), Some(&end));
    let conversation = get(&format!("/v1/conversations/{}", had.conversation));
    assert_eq!(of(&lines, "conversation"), [&conversation]);

    let items = of(&lines, "conversation.item");
    assert!(items.iter().all(|item| item["conversation"] == had.conversation));
    assert_eq!((items.len(), &items[0]["deleted"]), (3, &json!(true)));
    assert_eq!(items[1]["item"]["content"], "My color is red", "as it was given");
    let listed = get(&format!("/v1/conversations/{}/items?order=asc", had.conversation));
    let ids = |items: &[&Value]| items.iter().map(|item| id(item).to_owned()).collect::<Vec<_>>();
    let listed: Vec<&Value> = listed["data"].as_array().unwrap().iter().collect();
    assert_eq!(ids(&items[1..]), ids(&listed));

    let responses = of(&lines, "response");
    assert_eq!(responses.len(), had.responses.len());
    for response in &had.responses {
        let path = format!("/v1/responses/{response}");
        assert!(responses.contains(&&get(&path)), "{response} is as the API shows it");
        let input = get(&format!("{path}/input_items?order=asc"));
        let input: Vec<&Value> = input["data"].as_array().unwrap().iter().collect();
        let exported = of(&lines, "response.input_item");
        let exported: Vec<&Value> =
            exported.into_iter().filter(|line| line["response"] == **response).collect();
        assert_eq!(ids(&exported), ids(&input));
        let report = json!({
            "object": "response.report", "response": response,
            "report": get(&format!("{path}/report")),
        });
        // An import needs the record of the prompt too, which the API does not show.
        let exported = of(&lines, "response.report").into_iter().cloned().map(|mut line| {
            line["report"].as_object_mut().unwrap().remove("view");
            line
        });
        assert!(exported.collect::<Vec<_>>().contains(&report));
    }
}

#[test]
fn export_contains_items_of_deleted_responses() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let first = format!("/v1/responses/{}", had.responses[1]);
    ask(&serving, "key-of-acme", "DELETE", &first, &Value::Null);

    let lines = lines(&kept.antiphon(&["export", "--tenant", "acme"]).stdout);

    let items = of(&lines, "item");
    assert_eq!(items.len(), 2, "its input and its output");
    assert_eq!(items[0]["item"]["content"], "My color is red");
    assert_eq!(of(&lines, "response").len(), 2);
}

#[test]
fn items_of_many_lines_are_exported_in_one() {
    let kept = Kept::new();
    let serving = kept.serve();
    let body = "{\"items\": [{\"type\": \"message\",\n\r\n \"role\": \"user\",\r \"content\":\n \
                \"one\\ntwo\"}]}";
    let header = "authorization: Bearer key-of-acme";
    serving.ask_with("POST", "/v1/conversations", header, body);

    let lines = lines(&kept.antiphon(&["export", "--tenant", "acme"]).stdout);

    assert_eq!(of(&lines, "conversation.item")[0]["item"]["content"], "one\ntwo");
}

#[test]
fn export_creates_a_private_file() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");
    let path = kept.folder.path().join("acme.ndjson");
    let args = ["export", "--tenant", "acme", "--output", path.to_str().unwrap()];

    let ended = kept.antiphon(&args);

    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(lines(&written).last().unwrap()["object"], "export.end");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let again = kept.antiphon(&args);
    assert_eq!(again.code, Some(2));
    let sentence = format!("error: --output: {} cannot be created: ", path.display());
    assert!(again.stderr.starts_with(&sentence), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn tenant_without_data_is_reported() {
    let kept = Kept::new();
    let _serving = kept.serve();
    for args in [&["export", "--tenant", "initech"][..], &["erase", "--tenant", "initech", "--yes"]]
    {
        let ended = kept.antiphon(args);
        let sentence = "error: the store has no data of the tenant 'initech'; antiphon tenants \
                        lists the tenants that have some\n";
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        assert_eq!(ended.stderr, sentence);
    }
}
