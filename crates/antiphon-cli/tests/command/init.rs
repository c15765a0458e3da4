//! `antiphon init`: the questions, and the settings file for a gateway.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use crate::canned::Canned;
use crate::world::{Ended, World};

/// A directory with the file that `init` writes.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> String {
        self.0.path().join("antiphon.toml").display().to_string()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// The settings of the file that have a value.
    fn settings(&self) -> Vec<String> {
        let text = self.text();
        let is_setting = |line: &&str| !line.is_empty() && !line.starts_with(['#', '[']);
        text.lines().filter(is_setting).map(str::to_owned).collect()
    }

    /// Runs `init` with this standard input.
    fn init(&self, args: &[&str], answers: &str) -> Ended {
        World::antiphon(&[&["init", &self.file()], args].concat()).input(answers).ends()
    }

    /// A gateway with the file, and an address of its own.
    fn serve(&self, address: &str) -> World {
        World::serve(&["--config", &self.file(), "--listen", address])
    }
}

#[test]
fn defaults_need_no_question_and_start_a_gateway() {
    let folder = Folder::new();
    let ended = folder.init(&["--yes"], "");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let file = folder.file();
    let expected = format!(
        "wrote {file}\nnext: antiphon doctor --config {file}, then antiphon serve --config {file}\n"
    );
    assert_eq!(ended.stdout, expected);
    assert_eq!(
        folder.settings(),
        ["listen = \"127.0.0.1:8484\"", "store = \"sqlite:antiphon.db\""]
    );
    let serving = folder.serve("127.0.0.1:0").ready();
    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
    assert!(serving.directory().join("antiphon.db").exists());
}

#[test]
fn file_is_private_and_has_the_help_of_each_option() {
    let folder = Folder::new();
    folder.init(&["--yes"], "");
    let mode = fs::metadata(folder.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = folder.text();
    let help = World::antiphon(&["serve", "--help"]).ends().stdout;
    let squeezed = |text: &str| text.replace("# ", "").split_whitespace().collect::<String>();
    let sentence = "Seconds that a turn waits for another open turn of its conversation";
    for text in [&text, &help] {
        assert!(squeezed(text).contains(&squeezed(sentence)), "{text}");
    }
    assert!(text.contains("\n# turn-wait = 30\n"), "{text}");
}

#[test]
fn present_file_is_replaced_only_by_force() {
    let folder = Folder::new();
    fs::write(folder.file(), "turn-wait = 5\n").unwrap();
    let ended = folder.init(&["--yes"], "");
    let sentence = format!("error: {} exists; give --force to replace it\n", folder.file());
    assert_eq!(ended, Ended { code: Some(1), stdout: String::new(), stderr: sentence });
    assert_eq!(folder.text(), "turn-wait = 5\n");

    assert_eq!(folder.init(&["--yes", "--force"], "").code, Some(0));
    assert!(folder.text().contains("\nlisten = "), "{}", folder.text());
}

#[test]
fn answers_become_settings_that_serve_accepts() {
    let folder = Folder::new();
    let upstream = Canned::listing(&["m"]);
    let answers = format!("{} chat\nmemory\n\n", upstream.url());
    let ended = folder.init(&[], &answers);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("Which model server? openai, "), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("\n[").count(), 3, "{}", ended.stderr);
    let expected = [
        "listen = \"127.0.0.1:8484\"",
        "store = \"sqlite::memory:\"",
        &format!("upstream = \"{}\"", upstream.url()),
        "upstream-api = \"chat\"",
    ];
    assert_eq!(folder.settings(), expected);
    let serving = folder.serve("127.0.0.1:0").ready();
    assert_eq!(serving.status_of("/v1/models"), "HTTP/1.1 200 OK");
    assert!(upstream.head().starts_with("get /v1/models "));
}

#[test]
fn generated_key_opens_the_gateway_and_only_its_hash_is_stored() {
    let folder = Folder::new();
    let ended = folder.init(&[], "openai\n\nkey\n");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let line = ended
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("API key for callers, shown only here: "));
    let key = line.unwrap();
    assert!(!folder.text().contains(key));
    let next = "before the start, set ANTIPHON_UPSTREAM_KEY to the key for the upstream\n";
    assert!(ended.stdout.contains(next), "{}", ended.stdout);

    let serving =
        folder.serve("127.0.0.1:0").variable("ANTIPHON_UPSTREAM_KEY", "sk-any-key").ready();
    let path = "/v1/conversations/conv_0";
    assert_eq!(serving.status_of(path), "HTTP/1.1 401 Unauthorized");
    let header = format!("authorization: Bearer {key}");
    assert_eq!(serving.status_of_with(path, &header), "HTTP/1.1 404 Not Found");
}

#[test]
fn wrong_answer_is_asked_again_with_the_reason() {
    let folder = Folder::new();
    let ended = folder.init(&[], "ftp://x\nanthropic\nredis://x\n\nnobody\nlocal\n");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for reason in [
        "upstream: this must be an http or https URL without a key, whose path ends in /v1, \
         such as https://api.openai.com/v1\n",
        "store: this is not the URL of a store; give sqlite:PATH or postgres://USER@HOST/NAME\n",
        "listen: 'nobody' is not",
    ] {
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    assert!(folder.text().contains("\nupstream-api = \"anthropic\"\n"));
}

#[test]
fn tokens_need_an_upstream_that_checks_them() {
    let folder = Folder::new();
    let ended = folder.init(&[], "none\n\ntokens\nlocal\n");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("Who may connect?").count(), 2, "{}", ended.stderr);

    let folder = Folder::new();
    assert_eq!(folder.init(&[], "openai\n\ntokens\n").code, Some(0));
    assert_eq!(folder.settings()[0], "listen = \"0.0.0.0:8484\"");
    assert!(folder.serve("0.0.0.0:0").ready().address().ip().is_unspecified());
}

#[test]
fn missing_answers_write_nothing() {
    let folder = Folder::new();
    let ended = folder.init(&[], "openai\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.ends_with("or give --yes for the defaults\n"), "{}", ended.stderr);
    assert!(!Path::new(&folder.file()).exists());
}
