//! Copies folders recursively.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::Path;

use super::account::Account;

/// Copies a folder. The account owns the copy, and no other user may read it.
pub(super) fn copy(from: &Path, to: &Path, account: Account) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    account.chown_to(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &target, account)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            fs::copy(&source, &target)?;
            account.chown_to(&target)?;
        }
    }
    Ok(())
}
