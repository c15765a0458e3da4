//! The user that runs a server.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::platform::{chown, create_private_folder, is_owned_by_superuser, run_as, symlink};

/// The user that owns a server's files and processes. PostgreSQL refuses to run as root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// The user that runs the tests.
    Own,
    /// The unprivileged user `nobody`, because the tests run as root.
    Nobody { uid: u32, gid: u32 },
}

impl Account {
    /// Selects the user for a server with files in `folder` and makes the user its owner. This
    /// process must have created the folder.
    pub(super) fn for_folder(folder: &Path) -> io::Result<Self> {
        // The creator of a file owns it.
        if !is_owned_by_superuser(folder)? {
            return Ok(Self::Own);
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let account = nobody(&users).ok_or_else(|| {
            io::Error::other("PostgreSQL cannot run as root, and there is no user `nobody`")
        })?;
        account.chown_to(folder)?;
        Ok(account)
    }

    /// Makes the user the owner of a file or a folder.
    pub(super) fn chown_to(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Nobody { uid, gid } => chown(path, uid, gid),
        }
    }

    /// Copies a folder recursively. The user owns the copy, and no other user may read it.
    pub(super) fn copy_folder(self, from: &Path, to: &Path) -> io::Result<()> {
        create_private_folder(to)?;
        self.chown_to(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.copy_folder(&source, &target)?;
            } else if kind.is_symlink() {
                symlink(fs::read_link(&source)?, &target)?;
            } else {
                fs::copy(&source, &target)?;
                self.chown_to(&target)?;
            }
        }
        Ok(())
    }

    /// A command that runs as the user, with `folder` as its working directory.
    pub(super) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env("LC_ALL", "C");
        if let Self::Nobody { uid, gid } = self {
            run_as(&mut command, uid, gid);
        }
        command
    }
}

fn nobody(users: &str) -> Option<Account> {
    let line = users.lines().find(|line| line.starts_with("nobody:"))?;
    let mut numbers = line.split(':').skip(2).map(str::parse);
    let (uid, gid) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Account::Nobody { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_found_in_passwd() {
        let users = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n";
        assert_eq!(nobody(users), Some(Account::Nobody { uid: 65534, gid: 65533 }));
        assert_eq!(nobody("root:x:0:0:root:/:/bin/sh\n"), None);
    }
}
