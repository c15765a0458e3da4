//! A flag wins over a variable, a variable over the file. The refusal tells which was believed.

use crate::world::World;

/// Three places, each with a value that is refused under its own name.
fn contested(args: &[&str], variables: &[(&str, &str)]) -> String {
    let file = "faults = 'of-file'\n";
    let world = World::serve(args).file("antiphon.toml", file);
    let world = variables.iter().fold(world, |world, (name, text)| world.variable(name, text));
    world.ends().stderr
}

const NEITHER: &str = "is neither 'repair' nor 'reject'\n";

#[test]
fn flag_overrides_variable_and_file() {
    let variables = [("ANTIPHON_FAULTS", "of-variable")];
    let refusal = contested(&["--faults", "of-flag"], &variables);
    assert_eq!(refusal, format!("error: --faults: 'of-flag' {NEITHER}"));
}

#[test]
fn variable_overrides_file() {
    let refusal = contested(&[], &[("ANTIPHON_FAULTS", "of-variable")]);
    assert_eq!(refusal, format!("error: ANTIPHON_FAULTS: 'of-variable' {NEITHER}"));
}

#[test]
fn file_is_used_without_flag_and_variable() {
    let expected = format!("error: antiphon.toml:1: faults: 'of-file' {NEITHER}");
    assert_eq!(contested(&[], &[]), expected);
}

#[test]
fn empty_variable_is_ignored() {
    let refusal = contested(&[], &[("ANTIPHON_FAULTS", "")]);
    assert_eq!(refusal, format!("error: antiphon.toml:1: faults: 'of-file' {NEITHER}"));
}

#[test]
fn config_flag_replaces_the_default_file() {
    let refusal = World::serve(&["--config", "other.toml"])
        .file("antiphon.toml", "faults = 'of-file'")
        .file("other.toml", "\nfaults = 'of-other'")
        .ends()
        .stderr;
    assert_eq!(refusal, format!("error: other.toml:2: faults: 'of-other' {NEITHER}"));
}

#[test]
fn config_flag_overrides_its_variable() {
    let refusal = World::serve(&["--config", "flag.toml"])
        .variable("ANTIPHON_CONFIG", "variable.toml")
        .file("flag.toml", "faults = 'of-flag'")
        .ends()
        .stderr;
    assert_eq!(refusal, format!("error: flag.toml:1: faults: 'of-flag' {NEITHER}"));
}

#[test]
fn variable_names_the_settings_file() {
    let refusal = World::serve(&[])
        .variable("ANTIPHON_CONFIG", "variable.toml")
        .file("variable.toml", "faults = 'of-variable'")
        .ends()
        .stderr;
    assert_eq!(refusal, format!("error: variable.toml:1: faults: 'of-variable' {NEITHER}"));
}
