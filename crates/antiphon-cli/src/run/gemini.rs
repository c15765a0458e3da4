//! Gemini CLI, which learns about the gateway from its environment and from a file of settings.
//!
//! Source: the settings of Gemini CLI 0.61. With `GOOGLE_GEMINI_BASE_URL` alone it refuses to start
//! without a terminal: the settings must choose the key of `GEMINI_API_KEY`. They also choose the
//! model of side requests, such as summaries. Only the settings of the system are stronger than
//! those of the user.

use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::agent::{Endpoint, Launch};
use crate::failure::Failure;
use crate::platform;

/// The variable with the path of the system's settings.
const SETTINGS: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";

/// The settings of the system, unless the variable names others.
const SYSTEM_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/GeminiCli/settings.json"
} else if cfg!(windows) {
    r"C:\ProgramData\gemini-cli\settings.json"
} else {
    "/etc/gemini-cli/settings.json"
};

/// The variable with the user's folder.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Variables that choose another server or another login.
const OTHER_LOGINS: [&str; 4] = [
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_API_VERSION",
];

/// Sets the variables, and writes the settings. `variable` reads the environment.
pub(super) fn configure(
    launch: &mut Launch,
    endpoint: &Endpoint,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let given = variable(SETTINGS).map_or_else(|| SYSTEM_SETTINGS.into(), PathBuf::from);
    let settings = settings(read_settings(&given)?, endpoint.model.as_deref()).to_string();
    let home = variable(HOME).filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| {
        Failure::usage(format!("gemini needs a file of settings below the home folder; set {HOME}"))
    })?;
    let file = write_settings(&Path::new(&home).join(".antiphon"), &settings)
        .map_err(|error| Failure::runtime(format!("cannot write settings for gemini: {error}")))?;
    let key = endpoint.key.read(variable);
    let model = endpoint.model.clone().map(|model| ("GEMINI_MODEL", model));
    launch.variables.extend([
        ("GOOGLE_GEMINI_BASE_URL", endpoint.base.clone()),
        ("GEMINI_API_KEY", key),
        (SETTINGS, file.display().to_string()),
    ]);
    launch.variables.extend(model);
    launch.removed.extend(OTHER_LOGINS);
    Ok(())
}

/// The settings of the system; none if there is no file.
fn read_settings(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(unreadable(file, &error)),
    };
    serde_json::from_str(&text).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::runtime(format!("cannot read the settings of gemini in {}: {error}", file.display()))
}

/// The settings with the login by key, and with one model for all requests.
fn settings(mut settings: Map<String, Value>, model: Option<&str>) -> Value {
    let login = json!({"auth": {"selectedType": "gemini-api-key"}});
    merge(&mut settings, "security", login);
    if let Some(model) = model {
        let every = json!([{"match": {"model": "base"}, "modelConfig": {"model": model}}]);
        merge(&mut settings, "modelConfigs", json!({"customOverrides": every}));
    }
    Value::Object(settings)
}

/// Sets a value. Objects are merged.
fn merge(settings: &mut Map<String, Value>, key: &str, value: Value) {
    match (settings.get_mut(key), value) {
        (Some(Value::Object(settings)), Value::Object(values)) => {
            values.into_iter().for_each(|(key, value)| merge(settings, &key, value));
        }
        (_, value) => {
            settings.insert(key.to_owned(), value);
        }
    }
}

/// Writes the settings to a file in this folder. Gemini CLI ignores a file that others can change.
/// The name depends on the settings, so that agents with other settings can run at the same time.
fn write_settings(folder: &Path, settings: &str) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    settings.hash(&mut hasher);
    let file = folder.join(format!("gemini-{:016x}.json", hasher.finish()));
    if fs::read_to_string(&file).is_ok_and(|written| written == settings) {
        return Ok(file);
    }
    platform::create_private_folder(folder)?;
    let mut options = OpenOptions::new();
    let options = platform::set_private(options.write(true).create(true).truncate(true));
    options.open(&file)?.write_all(settings.as_bytes())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_system_stay() {
        let Value::Object(given) = json!({
            "security": {"auth": {"enforcedType": "x"}, "y": 1}, "ui": {"theme": "z"}})
        else {
            unreachable!("it is an object");
        };
        let expected = json!({"security": {
                "auth": {"enforcedType": "x", "selectedType": "gemini-api-key"}, "y": 1},
            "ui": {"theme": "z"}});
        assert_eq!(settings(given, None), expected);
        let model = &settings(Map::new(), Some("sim"))["modelConfigs"]["customOverrides"][0];
        assert_eq!(model["modelConfig"]["model"], "sim");
    }

    #[cfg(unix)]
    #[test]
    fn file_depends_on_the_settings_and_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".antiphon");
        let files = ["{}", "[]", "{}"].map(|text| write_settings(&folder, text).unwrap());
        assert_eq!((files[0] == files[1], files[0] == files[2]), (false, true));
        for path in [&folder, &files[0]] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0);
        }
    }
}
