//! Golden requests of clients: one request per case, decoded for each upstream API.
//!
//! `golden/client-requests/API/CASE.json` is a client's request. `expected/CASE.UPSTREAM` has the
//! fields of the Responses API, the items, and then the omissions and the faults, one per line.
//!
//! `ANTIPHON_GOLDEN=write` rewrites the expected files. Review them before you commit them.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon::Origin;
use antiphon::dialect::{ClientApi, UpstreamApi};
use antiphon::json::Object;
use serde_json::Value;

#[test]
fn requests_decode_as_expected() {
    let mut wrong = Vec::new();
    for (client, case) in CLIENTS.into_iter().flat_map(cases) {
        for upstream in UpstreamApi::ALL {
            let received = decoded(client, &case, upstream);
            let name = case.file_stem().expect("a case is a file").to_string_lossy();
            let path = case.with_file_name(format!("expected/{name}.{upstream}"));
            if std::env::var("ANTIPHON_GOLDEN").is_ok_and(|mode| mode == "write") {
                fs::write(&path, &received).expect("the expected file can be written");
            } else if fs::read_to_string(&path).ok().as_ref() != Some(&received) {
                wrong.push(format!("{}:\n{received}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The APIs with cases, and the names of their folders.
const CLIENTS: [(ClientApi, &str); 3] =
    [(ClientApi::Anthropic, "anthropic"), (ClientApi::Chat, "chat"), (ClientApi::Gemini, "gemini")];

fn cases((client, folder): (ClientApi, &str)) -> Vec<(ClientApi, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/client-requests");
    let root = root.join(folder);
    let entries = fs::read_dir(root).expect("there are cases");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    assert!(paths.len() >= 4, "there are cases");
    paths.into_iter().map(|path| (client, path)).collect()
}

/// The decoded request as text.
fn decoded(client: ClientApi, case: &Path, upstream: UpstreamApi) -> String {
    let text = fs::read_to_string(case).expect("a case can be read");
    let request = Object::parse_str(&text).expect("a request is an object");
    let mut lines = Vec::new();
    match client.decode_request(&request, upstream, &Origin::new("host model")) {
        Ok(decoded) => {
            let fields: Value = serde_json::from_str(&decoded.fields).expect("fields are JSON");
            lines.push(serde_json::to_string_pretty(&fields).expect("fields are JSON"));
            let items = decoded.items.iter();
            lines.extend(items.map(|item| String::from_utf8_lossy(item.raw()).into_owned()));
            let omissions = decoded.omissions.into_iter();
            lines.extend(omissions.map(|omission| format!("omission: {}", omission.message)));
        }
        Err(error) => lines.push(format!("error: {error}")),
    }
    let faults = client.find_faults(&request).into_iter();
    lines.extend(faults.map(|fault| format!("fault: {}: {}", fault.name, fault.message)));
    lines.join("\n") + "\n"
}
