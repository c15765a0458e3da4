//! An `antiphon` process in a working directory of its own, with nothing in its environment.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const ANTIPHON: &str = env!("CARGO_BIN_EXE_antiphon");

/// What is set up before the process starts.
pub(crate) struct World {
    directory: TempDir,
    command: Command,
}

impl World {
    /// `antiphon serve` with these arguments.
    pub(crate) fn serve(args: &[&str]) -> Self {
        Self::antiphon(&[&["serve"], args].concat())
    }

    /// `antiphon serve` with these arguments, where no file may grow beyond 1 or 2 MB, as on a disk
    /// that is full.
    pub(crate) fn serve_on_a_full_disk(args: &[&str]) -> Self {
        let mut shell = Command::new("/bin/sh");
        let limit = r#"trap "" XFSZ; ulimit -f 2048; exec "$0" serve "$@""#;
        shell.args(["-c", limit, ANTIPHON]).args(args);
        Self::of(shell)
    }

    /// `antiphon serve` on a free port, where the system lets it have open files as this `ulimit`
    /// says.
    pub(crate) fn serve_under(ulimit: &str) -> Self {
        let script = format!("ulimit {ulimit} && exec \"$0\" serve --listen 127.0.0.1:0");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, ANTIPHON]);
        Self::of(command)
    }

    /// `antiphon serve` with these arguments, in a file system of its own of this size in
    /// megabytes. `None` where the system does not let tests mount one.
    pub(crate) fn serve_on_a_small_disk(megabytes: u32, args: &[&str]) -> Option<Self> {
        const SCRIPT: &str =
            r#"mkdir disk && mount -t tmpfs -o size="$0"m none disk && cd disk && exec "$@""#;
        let may_mount = Command::new("unshare")
            .args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
            .output()
            .is_ok_and(|output| output.status.success());
        let mut shell = Command::new("unshare");
        let size = megabytes.to_string();
        shell.args(["-rm", "/bin/sh", "-c", SCRIPT, &size, ANTIPHON, "serve"]).args(args);
        may_mount.then(|| Self::of(shell))
    }

    /// `antiphon serve` with these arguments, under this umask.
    pub(crate) fn serve_under_umask(umask: &str, args: &[&str]) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", r#"umask "$0"; exec "$@""#, umask, ANTIPHON, "serve"]).args(args);
        Self::of(shell)
    }

    /// `antiphon` with these arguments.
    pub(crate) fn antiphon(args: &[&str]) -> Self {
        let mut command = Command::new(ANTIPHON);
        command.args(args);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let directory = tempfile::tempdir().unwrap();
        command.current_dir(directory.path()).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { directory, command }
    }

    /// `antiphon serve` with these arguments, every file of which may grow to `limit` bytes: what
    /// is written beyond is refused, as on a full disk.
    pub(crate) fn serve_within(limit: u64, args: &[&str]) -> Self {
        // The signal that a limit sends would end the process where a full disk does not. POSIX
        // counts in blocks of 512 bytes.
        const SCRIPT: &str = "trap '' XFSZ; ulimit -S -f \"$0\"; exec \"$@\"";
        let Self { directory, command: served } = Self::serve(args);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, &(limit / 512).to_string()]);
        command.arg(served.get_program()).args(served.get_args());
        command.current_dir(directory.path()).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { directory, command }
    }

    pub(crate) fn variable(mut self, name: &str, text: &str) -> Self {
        self.command.env(name, text);
        self
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.directory.path().join(name), text).unwrap();
        self
    }

    /// What the process reads on standard input.
    pub(crate) fn input(mut self, text: &str) -> Self {
        self = self.file(".stdin", text);
        let file = fs::File::open(self.directory.path().join(".stdin")).unwrap();
        self.command.stdin(file);
        self
    }

    /// Runs a process that ends by itself.
    pub(crate) fn ends(mut self) -> Ended {
        let output = self.command.output().unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts a process whose outputs nobody reads.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts a process on a terminal of its own. What is written to its standard input is typed
    /// there.
    pub(crate) fn on_a_terminal(self) -> Child {
        let words = [self.command.get_program()].into_iter().chain(self.command.get_args());
        let line: Vec<_> = words.map(|word| word.to_str().unwrap()).collect();
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &format!("exec {}", line.join(" ")), "/dev/null"]);
        let variables = self.command.get_envs();
        script.env_clear().envs(variables.filter_map(|(name, text)| Some((name, text?))));
        script.current_dir(self.directory.path());
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        script.spawn().unwrap()
    }

    /// Starts a process that serves, and waits for its readiness line.
    pub(crate) fn ready(mut self) -> Serving {
        let mut child = self.command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = lines_of(child.stderr.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Serving { child, stdout, stderr, readiness: line, directory: self.directory }
    }
}

/// A process that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A process that serves.
pub(crate) struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: mpsc::Receiver<String>,
    /// Its first line of standard output.
    pub(crate) readiness: String,
    directory: TempDir,
}

impl Serving {
    /// The address that the readiness line names.
    pub(crate) fn address(&self) -> SocketAddr {
        let url = self.readiness.strip_prefix("antiphon listening on http://");
        url.unwrap().strip_suffix("/v1\n").unwrap().parse().unwrap()
    }

    /// So many connections that say nothing.
    pub(crate) fn connections(&self, count: usize) -> Vec<TcpStream> {
        (0..count).map(|_| TcpStream::connect(self.address()).unwrap()).collect()
    }

    /// The status line that answers `GET path`.
    pub(crate) fn status_of(&self, path: &str) -> String {
        self.status_of_with(path, "accept: */*")
    }

    /// The same, where the request has this header.
    pub(crate) fn status_of_with(&self, path: &str, header: &str) -> String {
        let answer = self.ask_with("GET", path, header, "");
        answer.lines().next().unwrap().to_owned()
    }

    /// The status and the body that answer a request of JSON.
    pub(crate) fn answer(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.ask(method, path, &body.to_string());
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// All that comes back for a request.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        self.ask_with(method, path, "accept: */*", body)
    }

    /// The same, where the request has this header.
    pub(crate) fn ask_with(&self, method: &str, path: &str, header: &str, body: &str) -> String {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        self.exchange((head + body).as_bytes())
    }

    /// The directory that it runs in.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The whole answer, head and body, to this request, whose connection ends with it.
    pub(crate) fn exchange(&self, request: &[u8]) -> String {
        Self::exchange_at(SocketAddr::from(([127, 0, 0, 1], self.address().port())), request)
    }

    /// The same, at another address.
    pub(crate) fn exchange_at(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    /// A request whose body the gateway has begun to wait for, and waits for while this is kept.
    pub(crate) fn open_request(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\
                    content-type: application/json\r\nexpect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        stream
    }

    /// Waits for a line of standard error that contains `text`.
    pub(crate) fn says(&self, text: &str) {
        let message = self.stderr.iter().any(|line| line.contains(text));
        assert!(message, "standard error ended without '{text}'");
    }

    /// The next line of standard output.
    pub(crate) fn next_output(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// The next line of standard error.
    pub(crate) fn next_line(&self) -> String {
        self.stderr.recv().expect("standard error goes on")
    }

    /// Sends the signal of this name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Sends the signal until the process ends.
    pub(crate) fn signal_until_ended(mut self, name: &str) -> (ExitStatus, String, String) {
        while self.child.try_wait().unwrap().is_none() {
            self.signal(name);
        }
        self.ended()
    }

    /// Waits for the end; gives the status and what is left of both outputs.
    pub(crate) fn ended(mut self) -> (ExitStatus, String, String) {
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        let stderr = self.stderr.iter().collect();
        (self.child.wait().unwrap(), stdout, stderr)
    }
}

/// The lines as they come, read on so that the process never waits for a reader.
fn lines_of(stderr: ChildStderr) -> mpsc::Receiver<String> {
    let (message, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let mut line = String::new();
        while stderr.read_line(&mut line).unwrap() > 0 {
            // An error is a test that reads no further.
            let _ = message.send(std::mem::take(&mut line));
        }
    });
    lines
}

impl Drop for Serving {
    fn drop(&mut self) {
        // An error is a process that has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
