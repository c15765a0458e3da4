//! Finds PostgreSQL's programs.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::account::Account;

/// A folder with `postgres` and `initdb` that an account may execute.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    /// `18.4`
    pub(super) version: String,
}

impl Programs {
    /// Finds the programs: in `ANTIPHON_POSTGRES_BIN`, else as installed by
    /// `cargo xtask test --only postgres`, else in the system's folders.
    ///
    /// If the account may not enter the installed folder, the programs are copied into `own`.
    pub(super) async fn find(account: Account, own: &Path) -> io::Result<Self> {
        let cache = cache();
        let folder = folder(env::var_os(VARIABLE), cache.as_deref(), Path::new(SYSTEM));
        let folder = folder.map_err(io::Error::other)?;
        let installed = cache.map(|cache| cache.join(INSTALLATION));
        match (Self::probe(folder.clone(), account, own).await, installed) {
            (Err(error), Some(installed))
                if error.kind() == io::ErrorKind::PermissionDenied
                    && folder.starts_with(&installed) =>
            {
                let copied = own.join(INSTALLATION);
                account.copy_folder(&installed, &copied)?;
                Self::probe(copied.join("bin"), account, own).await
            }
            (found, _) => found,
        }
    }

    async fn probe(folder: PathBuf, account: Account, own: &Path) -> io::Result<Self> {
        let mut command = account.command(&folder.join("postgres"), own);
        command.arg("--version");
        let output = tokio::process::Command::from(command).output().await?;
        let stdout = stdout_of("postgres --version", &output)?;
        let version = stdout.split_whitespace().nth(2).unwrap_or_default().to_owned();
        Ok(Self { folder, version })
    }

    /// The major version.
    pub(super) fn major(&self) -> u32 {
        let number: String = self.version.chars().take_while(char::is_ascii_digit).collect();
        number.parse().unwrap_or_default()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The standard output of a program that succeeded; otherwise an error with all of its output.
pub(super) fn stdout_of(name: &str, output: &Output) -> io::Result<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(stdout.into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{name}: {}\n{stdout}{complaint}", output.status)))
}

/// The folder for files that later runs reuse. It is inside cargo's target folder, which
/// `CACHEDIR.TAG` marks.
pub(super) fn cache() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists())?;
    Some(target.join("postgresql"))
}

fn folder(named: Option<OsString>, cache: Option<&Path>, system: &Path) -> Result<PathBuf, String> {
    if let Some(named) = named.map(PathBuf::from) {
        let missing = || format!("{VARIABLE} is {}, which has no `postgres`", named.display());
        return holds(&named).then(|| named.clone()).ok_or_else(missing);
    }
    let installed = cache.map(|cache| cache.join(INSTALLATION).join("bin"));
    let found = installed.filter(|folder| holds(folder)).or_else(|| newest_version(system));
    found.ok_or_else(|| MISSING.to_owned())
}

fn holds(folder: &Path) -> bool {
    folder.join("postgres").is_file() && folder.join("initdb").is_file()
}

/// The newest version in a folder like Debian's, with one subfolder for each version.
fn newest_version(system: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(system).ok()?.flatten();
    let bins = versions.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path().join("bin")))
    });
    bins.filter(|(_, bin)| holds(bin)).max().map(|(_, bin)| bin)
}

const VARIABLE: &str = "ANTIPHON_POSTGRES_BIN";
const INSTALLATION: &str = "installation";
const SYSTEM: &str = "/usr/lib/postgresql";
const MISSING: &str = "this test needs PostgreSQL, but none was found: \
    install it for the tests with `cargo xtask test --only postgres`, \
    or set ANTIPHON_POSTGRES_BIN to the folder of its programs";

#[cfg(test)]
mod tests {
    use super::*;

    fn with_programs(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        for name in ["postgres", "initdb"] {
            fs::write(folder.join(name), "").unwrap();
        }
        folder.to_owned()
    }

    #[test]
    fn named_folder_precedes_installed_and_system() {
        let root = tempfile::tempdir().unwrap();
        let (cache, system) = (root.path().join("cache"), root.path().join("system"));
        let find = |named: Option<&Path>| {
            folder(named.map(|path| path.as_os_str().to_owned()), Some(&cache), &system)
        };
        assert_eq!(find(None), Err(MISSING.to_owned()));
        with_programs(&system.join("9/bin"));
        let newest = with_programs(&system.join("17/bin"));
        fs::create_dir_all(system.join("18/bin")).unwrap();
        assert_eq!(find(None), Ok(newest));
        let installed = with_programs(&cache.join("installation/bin"));
        assert_eq!(find(None), Ok(installed));
        let named = with_programs(&root.path().join("named"));
        assert_eq!(find(Some(&named)), Ok(named));
    }

    #[test]
    fn named_folder_without_postgres_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let error = folder(Some(root.path().into()), None, root.path()).unwrap_err();
        assert!(error.starts_with("ANTIPHON_POSTGRES_BIN is "), "{error}");
        assert!(error.ends_with(", which has no `postgres`"), "{error}");
    }
}
