//! `FAULTS.md`: what the tests found out, as tables.
//!
//! `ANTIPHON_GOLDEN=write` writes a section anew. It is to be read before it is kept.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Several tests write sections of one file.
static WRITING: Mutex<()> = Mutex::new(());

/// The section between `<!-- NAME -->` and `<!-- end of NAME -->` has to be `text`.
pub(crate) fn assert_section(name: &str, text: &str) {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../FAULTS.md");
    let book = fs::read_to_string(&path).expect("FAULTS.md can be read");
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = book.split_once(&begin).expect("the section begins");
    let (written, after) = rest.split_once(&end).expect("the section ends");
    if std::env::var_os("ANTIPHON_GOLDEN").is_some_and(|how| how == "write") {
        let book = format!("{before}{begin}{text}{end}{after}");
        fs::write(&path, book).expect("FAULTS.md can be written");
    } else {
        assert!(written == text, "FAULTS.md says of {name}:\n{written}\nand it is:\n{text}");
    }
}
