//! Servers that cannot be used or do not answer, and runs that the user interrupts.

use antiphon_mock::{Answer, Exchange, Reply, Script};
use http::{Method, StatusCode};
use serde_json::json;

use super::{KEY, Provider, Run, conformance, run};
use crate::world::{Serving, World};

/// The path of the rule `conversation-unknown-read` alone.
const CONVERSATION: &str = "/conversations/conv_0123456789abcdef0123456789abcdef0123456789abcdef";

fn unavailable() -> Reply {
    let body = json!({"error": {"message": format!("Not now, {KEY}."), "type": "server_error"}});
    Reply::json(StatusCode::SERVICE_UNAVAILABLE, &body).header("retry-after-ms", "0")
}

/// A run in which the rule's request gets these replies first.
fn run_with(replies: impl IntoIterator<Item = Reply>) -> Run {
    let provider = Provider::start();
    for reply in replies {
        provider.strict.reply_instead(Method::GET, CONVERSATION, reply);
    }
    let run = run(&provider.strict.base_url(), &[]);
    provider.assert_empty();
    run
}

#[test]
fn temporary_errors_are_retried() {
    let run = run_with([unavailable(), unavailable()]);
    assert_eq!(run.rule("conversation-unknown-read")["result"], "equal");
    assert_eq!(run.ended.code, Some(0));
}

#[test]
fn rule_is_not_tried_if_the_server_stays_unavailable() {
    let run = run_with([unavailable(), unavailable(), unavailable()]);
    let rule = run.rule("conversation-unknown-read");
    let reason = "the server answered 503 to every attempt: Not now, ***.";
    assert_eq!((&rule["result"], &rule["reason"]), (&json!("not tried"), &json!(reason)));
    assert_eq!(run.report["counts"]["not_tried"], 1);
    assert_eq!(run.ended.code, Some(2));
}

#[test]
fn lost_answer_is_reported_and_not_retried() {
    let run = run_with([Reply::hangup()]);
    let rule = run.rule("conversation-unknown-read");
    let reason = "the server's answer broke off before it was complete.";
    assert_eq!((&rule["result"], &rule["reason"]), (&json!("not tried"), &json!(reason)));
    assert_eq!(run.ended.code, Some(2));
}

#[test]
fn unusable_server_ends_the_run() {
    let provider = Provider::start();
    let url = provider.strict.base_url();
    let run = run("http://127.0.0.1:1/v1", &[]);
    assert_eq!((run.ended.code, &*run.ended.stdout), (Some(2), ""));
    let sentence = "error: http://127.0.0.1:1/v1 cannot be used: the server could not be reached: ";
    assert!(run.ended.stderr.starts_with(sentence), "{}", run.ended.stderr);

    let wrong = ["conformance", "--base-url", &url, "--model", "any"];
    let ended = World::antiphon(&wrong).variable("OPENAI_API_KEY", "sk-wrong-key-1234").ends();
    let sentence = format!(
        "error: {url} cannot be used: POST /responses was answered with 401: Incorrect API key \
         provided: sk-...1234. You can find your API key at \
         https://platform.openai.com/account/api-keys.\n"
    );
    assert_eq!((ended.code, ended.stderr), (Some(2), sentence));
}

/// The bodies are those of OpenAI and of Azure.
#[test]
fn unknown_model_ends_the_run() {
    let missing = "The requested model 'any' does not exist.";
    let deployment = "The API deployment for this resource does not exist.";
    for (status, error) in [
        (
            400,
            json!({"message": missing, "type": "invalid_request_error", "param": "model",
                     "code": "model_not_found"}),
        ),
        (404, json!({"message": deployment, "code": "DeploymentNotFound"})),
    ] {
        let provider = Provider::start();
        let message = error["message"].clone();
        let body = json!({"error": error});
        let reply = Reply::json(StatusCode::from_u16(status).unwrap(), &body);
        provider.strict.reply_instead(Method::POST, "/responses", reply);
        let url = provider.strict.base_url();

        let run = run(&url, &[]);

        let sentence = format!(
            "error: --model: {url} does not serve 'any': POST /responses was answered with \
             {status}: {}\n",
            message.as_str().unwrap()
        );
        assert_eq!((run.ended.code, run.ended.stderr), (Some(2), sentence));
        assert_eq!((&*run.ended.stdout, provider.strict.requests().len()), ("", 1));
    }
}

#[test]
fn invalid_arguments_end_the_run() {
    let base = ["conformance", "--model", "any", "--base-url"];
    for (args, sentence) in [
        (["http://127.0.0.1:1/v1"].as_slice(), "give a key: --key KEY, or OPENAI_API_KEY"),
        (
            &["http://user:sesame@127.0.0.1/v1", "--key", KEY],
            "--base-url: give an http or https URL without a user name and a password, such as \
             https://api.openai.com/v1",
        ),
        (
            &["http://127.0.0.1:1/v1", "--key", "sesame\n1"],
            "the key has characters that no header may have",
        ),
        (
            &["http://127.0.0.1:1/v1", "--key", KEY, "--api-key-header", "a b"],
            "--api-key-header: 'a b' is no header",
        ),
        (
            &["http://127.0.0.1:1/v1", "--key", KEY, "--json", "none/report.json"],
            "--json: none/report.json cannot be written: No such file or directory (os error 2)",
        ),
    ] {
        let ended = World::antiphon(&[&base, args].concat()).ends();
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {sentence}\n")));
    }
}

/// A run whose second answer of the model is withheld, and the handle of this answer.
fn held_run(provider: &Provider) -> (Serving, Exchange) {
    let message = Answer::new("any").message("OK");
    provider.strict.script(message.clone());
    let held = provider.strict.script(Script::from(message).gated());
    let running = conformance(&provider.strict.base_url(), &[]).ready();
    provider.runtime.block_on(async {
        let mut answers = 0;
        for index in 0.. {
            answers += usize::from(provider.strict.request(index).await.model_input.is_some());
            if answers == 2 {
                break;
            }
        }
    });
    (running, held)
}

#[test]
fn interrupted_run_deletes_its_objects() {
    let provider = Provider::start();
    let (running, held) = held_run(&provider);
    running.signal("INT");
    running.says("stopping");
    held.release_all();
    let (status, stdout, _) = running.ended();
    assert_eq!(status.code(), Some(2));
    assert!(stdout.ends_with("all objects of this run are deleted\n"), "{stdout}");
    provider.assert_empty();
    assert_eq!(provider.created().len(), 2, "{:?}", provider.created());
}

#[test]
fn second_signal_names_the_objects_that_are_left() {
    let provider = Provider::start();
    let (running, _held) = held_run(&provider);
    let [known] = &provider.strict.response_ids()[..] else { panic!("one turn has ended") };
    running.signal("INT");
    running.says("stopping");
    let (status, _, stderr) = running.signal_until_ended("TERM");
    assert_eq!(status.code(), Some(2));
    assert!(stderr.contains(&format!("not deleted: /responses/{known}")), "{stderr}");
}
