//! One run: the steps, the requests of the rules, and the deletion of all that they created.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;
use tokio::sync::watch;

use super::comparison::{Answer, Comparison};
use super::rule::{BodyTemplate, Expectation, RequestTemplate, Rule, Step};
use super::server::{Server, ServerRequest};
use super::variables::{Missing, Variables};

/// After this number of requests in a row without an answer, no further request is sent.
const MAX_FAILURES: u32 = 3;

/// The reason for which a rule was not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotTried {
    /// A step before the rule had another answer than expected, or the model's answer lacks an
    /// item.
    Precondition(String),
    /// The server did not answer.
    NoAnswer(String),
    /// The user interrupted the run.
    Interrupted,
}

/// The requests of a run and their cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) requests: u32,
    /// The number of answers of a model.
    pub(super) answers: u32,
    /// The input and output tokens of these answers.
    pub(super) tokens: u64,
}

/// The paths of the objects that exist on the server because of this run, oldest first.
#[derive(Debug, Default)]
pub(super) struct CreatedObjects(Mutex<Vec<String>>);

/// A run against one server.
pub(super) struct Session<'a> {
    server: &'a Server,
    model: &'a str,
    steps: &'a [Step],
    created: &'a CreatedObjects,
    /// True once the user interrupts the run.
    interrupted: watch::Receiver<bool>,
    variables: Variables,
    /// The results of the steps that have run.
    results: BTreeMap<&'a str, Result<(), NotTried>>,
    failures: u32,
    pub(super) cost: Cost,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        server: &'a Server,
        model: &'a str,
        steps: &'a [Step],
        created: &'a CreatedObjects,
        interrupted: watch::Receiver<bool>,
    ) -> Self {
        let mut variables = Variables::default();
        variables.insert("model", model.into());
        let (results, failures, cost) = (BTreeMap::new(), 0, Cost::default());
        Self { server, model, steps, created, interrupted, variables, results, failures, cost }
    }

    /// Requests one answer of the model, without which the rules cannot be tried. The error is a
    /// sentence: the server cannot be used, or does not serve the model.
    pub(super) async fn check(&mut self) -> Result<(), String> {
        let first = &self.steps[0];
        let answer = match self.fill(&first.request()) {
            Ok(request) => self.send(&request).await,
            Err(missing) => Err(missing),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(not_tried) => return Err(self.unusable(&not_tried.reason())),
        };
        if !answer.status.is_success() && rejects_model(&answer.body["error"]) {
            let reason = unexpected(&first.request(), &answer);
            let base = self.server.base();
            return Err(format!("--model: {base} does not serve '{}': {reason}", self.model));
        }
        if matches!(answer.status.as_u16(), 401 | 403 | 404) {
            return Err(self.unusable(&unexpected(&first.request(), &answer)));
        }
        let result = self.keep(first, answer);
        self.results.insert(&first.name, result);
        Ok(())
    }

    fn unusable(&self, reason: &str) -> String {
        format!("{} cannot be used: {reason}", self.server.base())
    }

    /// Tries a rule.
    pub(super) async fn try_rule(&mut self, rule: &Rule) -> Result<Comparison, NotTried> {
        self.run_steps(&rule.given).await?;
        let request = self.fill(&rule.request())?;
        let answer = self.send(&request).await?;
        let expectation: Expectation<'_> = rule.expectation();
        expectation.compare(&self.variables, &answer).map_err(NotTried::from)
    }

    /// Deletes all objects of this run, the latest first. Objects that the server does not delete
    /// stay in the list.
    pub(super) async fn delete_objects(&mut self) {
        for path in self.created.paths().into_iter().rev() {
            let request = ServerRequest {
                method: "DELETE".to_owned(),
                path: path.clone(),
                body: None,
                key: super::rule::Key::Own,
            };
            self.cost.requests += 1;
            let answer = self.server.send(&request).await;
            if answer.is_ok_and(|it| it.status.is_success() || it.status.as_u16() == 404) {
                self.created.remove(&path);
            }
        }
    }

    /// Runs steps, each with the steps before it, unless they have run.
    async fn run_steps(&mut self, names: &[String]) -> Result<(), NotTried> {
        for name in names {
            let steps = self.steps;
            let step = steps.iter().find(|step| step.name == *name).expect("rules name steps");
            if let Some(result) = self.results.get(&*step.name) {
                result.clone()?;
                continue;
            }
            let result = Box::pin(self.run_step(step)).await;
            self.results.insert(&step.name, result.clone());
            result?;
        }
        Ok(())
    }

    async fn run_step(&mut self, step: &Step) -> Result<(), NotTried> {
        self.run_steps(&step.given).await?;
        let request = self.fill(&step.request())?;
        let answer = self.send(&request).await?;
        self.keep(step, answer)
    }

    /// Keeps the answer to a step for later requests.
    fn keep(&mut self, step: &Step, answer: Answer) -> Result<(), NotTried> {
        if !answer.status.is_success() {
            return Err(NotTried::Precondition(unexpected(&step.request(), &answer)));
        }
        self.variables.insert(&step.name, answer.body);
        Ok(())
    }

    fn fill(&self, template: &RequestTemplate) -> Result<ServerRequest, NotTried> {
        let body = match &template.body {
            BodyTemplate::Empty => None,
            BodyTemplate::Json(body) => Some(self.variables.fill(body)?.to_string()),
            BodyTemplate::Text(text) => Some(text.clone()),
        };
        Ok(ServerRequest {
            method: template.method.clone(),
            path: self.variables.fill_text(&template.path)?,
            body: body.map(String::into_bytes),
            key: template.key.clone(),
        })
    }

    async fn send(&mut self, request: &ServerRequest) -> Result<Answer, NotTried> {
        if *self.interrupted.borrow() {
            return Err(NotTried::Interrupted);
        }
        if self.failures >= MAX_FAILURES {
            let reason = format!("the server did not answer {MAX_FAILURES} requests in a row");
            return Err(NotTried::NoAnswer(reason));
        }
        self.cost.requests += 1;
        match self.server.send(request).await {
            Ok(answer) => {
                self.failures = 0;
                self.cost.add(request, &answer);
                self.created.record(request, &answer);
                Ok(answer)
            }
            Err(reason) => {
                self.failures += 1;
                Err(NotTried::NoAnswer(reason))
            }
        }
    }
}

impl Cost {
    fn add(&mut self, request: &ServerRequest, answer: &Answer) {
        if request.path == "/responses" && answer.status.is_success() {
            self.answers += 1;
            self.tokens += answer.body["usage"]["total_tokens"].as_u64().unwrap_or_default();
        }
    }
}

impl CreatedObjects {
    /// The paths that still exist.
    pub(super) fn paths(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Records the object that an answer created or deleted.
    fn record(&self, request: &ServerRequest, answer: &Answer) {
        if !answer.status.is_success() {
            return;
        }
        match (&*request.method, &*request.path) {
            ("POST", path @ ("/conversations" | "/responses")) => {
                let is_stored = path == "/conversations" || answer.body["store"] != false;
                if let Some(id) = answer.body["id"].as_str().filter(|_| is_stored) {
                    self.lock().push(format!("{path}/{id}"));
                }
            }
            ("DELETE", path) => self.remove(path),
            _ => {}
        }
    }

    fn remove(&self, path: &str) {
        self.lock().retain(|known| known != path);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl From<Missing> for NotTried {
    fn from(Missing(placeholder): Missing) -> Self {
        Self::Precondition(format!("no answer of the server has the value {placeholder}"))
    }
}

/// Whether an error is about the name of the model. Azure calls a model a deployment.
fn rejects_model(error: &Value) -> bool {
    let has_code = |code: &str| error["code"] == code;
    error["param"] == "model" || has_code("model_not_found") || has_code("DeploymentNotFound")
}

fn unexpected(request: &RequestTemplate, answer: &Answer) -> String {
    let message = match &answer.body["error"]["message"] {
        Value::String(message) => message,
        _ => &answer.text,
    };
    let RequestTemplate { method, path, .. } = request;
    format!("{method} {path} was answered with {}: {message}", answer.status.as_u16())
}
