//! `antiphon completions`: the scripts for shells.

use std::process::Command;

use crate::world::World;

fn script(shell: &str) -> String {
    let ended = World::antiphon(&["completions", shell]).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{shell}");
    ended.stdout
}

/// The words that bash offers for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("antiphon.bash");
    std::fs::write(&path, script("bash")).unwrap();
    let (command, last) = (words.join(" "), words.len() - 1);
    let line = r#"
        source "$0"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        complete -p antiphon >&2 || exit 1
        _antiphon antiphon "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output =
        Command::new("bash").args(["--norc", "-c", line]).arg(&path).args(words).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{command} {last}: {errors}");
    assert!(errors.contains(" antiphon"), "the command has no completion: {errors}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_options_and_choices() {
    let commands = offered(&["antiphon", ""]);
    for command in ["serve", "doctor", "init", "completions", "man", "check"] {
        assert!(commands.iter().any(|offered| offered == command), "{command}: {commands:?}");
    }
    assert_eq!(offered(&["antiphon", "doc"]), ["doctor"]);
    assert_eq!(
        offered(&["antiphon", "serve", "--upstream-"]),
        ["--upstream-api", "--upstream-key", "--upstream-ca-file"]
    );
    assert_eq!(offered(&["antiphon", "completions", "z"]), ["zsh"]);
}

#[test]
fn each_shell_has_a_script_in_its_language() {
    for (shell, begin) in [
        ("zsh", "#compdef antiphon"),
        ("fish", "complete -c antiphon"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName 'antiphon'"),
        ("elvish", "set edit:completion:arg-completer[antiphon] = {"),
    ] {
        let script = script(shell);
        assert!(script.contains(begin), "{shell}: {script}");
        assert!(script.contains("upstream-key") && script.contains("doctor"), "{shell}");
    }
    assert_eq!(World::antiphon(&["completions", "csh"]).ends().code, Some(2));
}
