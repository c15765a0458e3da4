//! The help texts, as a terminal of 80 or 100 columns shows them.

use crate::world::World;

const COMMANDS: [&str; 21] = [
    "--help",
    "serve",
    "run",
    "init",
    "doctor",
    "health",
    "check",
    "repair",
    "explain",
    "hash-key",
    "convert",
    "tenants",
    "inspect",
    "export",
    "import",
    "erase",
    "mock",
    "conformance",
    "completions",
    "man",
    "sim",
];

/// The help of a command at this width.
fn help(command: &str, columns: usize) -> String {
    let args = if command == "--help" { vec![command] } else { vec![command, "--help"] };
    let ended = World::antiphon(&args).variable("COLUMNS", &columns.to_string()).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
    ended.stdout
}

/// The number of columns of a text.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for command in COMMANDS {
        for columns in [80, 100] {
            for line in help(command, columns).lines() {
                // The usage of a command is one line for scripts that read it.
                assert!(width(line) <= columns || line.starts_with("Usage: "), "{command}: {line}");
            }
        }
    }
}

/// A line of a paragraph ends only if the next word has no place on it.
#[test]
fn paragraphs_are_wrapped_once() {
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    for command in COMMANDS {
        for columns in [80, 100] {
            let help = help(command, columns);
            let lines: Vec<&str> = help.lines().collect();
            for pair in lines.windows(2).filter(|pair| pair.iter().all(is_prose)) {
                let word = pair[1].split(' ').next().unwrap();
                let with_word = width(pair[0]) + 1 + width(word);
                assert!(with_word > columns, "{command} at {columns}: {}\n{}", pair[0], pair[1]);
            }
        }
    }
}

/// Each line of the help that begins with spaces is one line of a terminal: clap would continue it
/// without its indentation.
#[test]
fn indented_lines_fit_into_80_columns() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/help");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.starts_with(' ')) {
            assert!(width(line) <= 80, "{}: {line}", path.display());
        }
    }
}
