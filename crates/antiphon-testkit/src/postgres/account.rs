//! Who runs a server.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Whose a server's files and processes are. PostgreSQL refuses to run as the superuser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// Of whoever runs the tests.
    Own,
    /// Of the unprivileged user `nobody`, since the tests are run by the superuser.
    Nobody { uid: u32, gid: u32 },
}

impl Account {
    /// The account for a server whose files are in this folder, which this process has made; it is
    /// the account's from now on.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        // Whoever runs a process owns what it makes.
        if fs::metadata(folder)?.uid() != SUPERUSER {
            return Ok(Self::Own);
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let account = nobody(&users).ok_or_else(|| {
            io::Error::other("PostgreSQL does not run as root, and there is no user `nobody`")
        })?;
        account.give(folder)?;
        Ok(account)
    }

    /// Gives the account a file or a folder.
    pub(super) fn give(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Nobody { uid, gid } => chown(path, Some(uid), Some(gid)),
        }
    }

    /// A program that the account runs, in a folder of its own.
    pub(super) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env("LC_ALL", "C");
        if let Self::Nobody { uid, gid } = self {
            command.uid(uid).gid(gid);
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

const SUPERUSER: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_found_among_the_users() {
        let users = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n";
        assert_eq!(nobody(users), Some(Account::Nobody { uid: 65534, gid: 65533 }));
        assert_eq!(nobody("root:x:0:0:root:/:/bin/sh\n"), None);
    }
}
